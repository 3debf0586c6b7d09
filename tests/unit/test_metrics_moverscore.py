"""MoverScore, judged by a linear programme of SciPy and by the optimal assignment for sets of one size."""

import string

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment, linprog
from scipy.spatial.distance import cdist

from beyondqa import encoders
from beyondqa.metrics import score
from beyondqa.metrics.moverscore import metrics, mover_distance
from beyondqa.scoring import score_pairs

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

MINILM = {"name": "all-minilm-l6-v2", "embedded": True, "layer": 6, "stand_in": "distilbert-base-uncased"}
NAME = "moverscore[all-minilm-l6-v2,L6,noidf]"
PAIRS = [
    ("The patient has a heart attack.", "Myocardial infarction was diagnosed."),
    ("No fever, no cough!", "The child has fever and a cough for three days."),
    ("x", "hyperbilirubinaemia"),
]


def of(pairs, **settings):
    return score(NAME, [p for p, _ in pairs], [r for _, r in pairs], encoders=[MINILM], **settings)


def unit_rows(seed, rows):
    vectors = np.random.default_rng(seed).normal(size=(rows, 8))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def transport_cost(left, right):
    """The transportation problem as a linear programme, no network simplex."""
    n, m = len(left), len(right)
    constraints = np.zeros((n + m, n * m))
    for i in range(n):
        constraints[i, i * m : (i + 1) * m] = 1
    for j in range(m):
        constraints[n + j, j::m] = 1
    weights = np.concatenate([np.full(n, 1 / n), np.full(m, 1 / m)])
    return linprog(cdist(left, right).ravel(), A_eq=constraints, b_eq=weights, method="highs").fun


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 5), (4, 7), (9, 6)])
def test_distance_is_the_optimum_of_the_linear_programme(n, m):
    left, right = unit_rows(n, n), unit_rows(100 + m, m)
    assert mover_distance(left, right) == pytest.approx(
        transport_cost(left.astype(float), right.astype(float)), abs=1e-7
    )


def test_distance_of_equally_many_points_is_the_best_assignment():
    left, right = unit_rows(1, 12), unit_rows(2, 12)
    costs = cdist(left.astype(float), right.astype(float))
    assert mover_distance(left, right) == pytest.approx(costs[linear_sum_assignment(costs)].mean(), abs=1e-7)


def test_values_are_those_of_a_plain_computation():
    folder = encoders.directory(MINILM)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()

    def words(text):
        with torch.no_grad():
            states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].double()
        tokens = tokenizer.convert_ids_to_tokens(tokenizer(text)["input_ids"])
        kept = [k for k, t in enumerate(tokens) if "##" not in t and t not in set(string.punctuation)]
        return (states / states.norm(dim=1, keepdim=True))[kept].numpy()

    expected = [1 - transport_cost(words(prediction), words(reference)) for prediction, reference in PAIRS]
    assert of(PAIRS) == pytest.approx(expected, abs=1e-5)


def test_a_text_equal_to_its_reference_scores_one():
    assert of([("Metformin lowers glucose.", "Metformin lowers glucose.")]) == pytest.approx([1.0], abs=1e-5)


def test_values_do_not_depend_on_neighbours_or_on_processes():
    columns, _ = score_pairs([*PAIRS, ("other words " * 50, "more")], {"moverscore": {"encoders": [MINILM]}}, threads=2)
    assert list(columns[NAME].values[:3]) == pytest.approx([of([pair])[0] for pair in PAIRS], abs=1e-5)


def test_empties_and_hard_texts():
    texts = ["", "\u200b", "...", "nul\0here", "\ud800x", "🩺", "word " * 2000]
    columns, _ = score_pairs([(text, "a reference") for text in texts], {"moverscore": {"encoders": [MINILM]}})
    assert list(columns[NAME].values[:2]) == [0.0, 0.0]
    assert None not in columns[NAME].values
    assert columns[NAME].truncated == {6}


def test_the_authors_encoder_is_the_default():
    (metric,) = metrics({})
    assert metric.name == "moverscore[distilbert-base-uncased,L6,noidf]"
    assert metric.stand_in == ""
