"""Metrics on recorded answers, judged by the values that other groups recorded beside them."""

import gzip
import json
import tarfile

import pytest

from beyondqa.errors import StudyError
from beyondqa.extraction import chosen_option
from beyondqa.metrics import score
from beyondqa.scoring import score_pairs

OLAPH = {"rouge1_f1": "rouge1[nostem]", "rouge2_f1": "rouge2[nostem]", "rougel_f1": "rougeL[nostem]"}
OLAPH_MODELS = ["gemma-7b", "llama3-8b-instruct", "llama3-8b", "mistral-7b", "selfbiorag-7b"]


@pytest.mark.parametrize("model", OLAPH_MODELS)
def test_olaph_rouge_of_every_sampled_answer(shared, model):
    """5 models x 6 samples x 201 questions, to the rounding of the four recorded decimals."""
    path = shared / f"recorded/olaph_sampled_predictions/pdata_{model}_kqa_golden_sampling.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    answers = [
        (text, row["Free_form_answer"], recorded)
        for row in rows
        for text, recorded in zip(row["sample_predictions"], row["prediction_scores"], strict=True)
    ]
    assert len(answers) == 6 * 201
    columns, _ = score_pairs([(text, reference) for text, reference, _ in answers], {"rouge": {}})
    for field, metric in OLAPH.items():
        differences = [
            abs(value - recorded[field])
            for value, (_, _, recorded) in zip(columns[metric].values, answers, strict=True)
        ]
        assert max(differences) <= 5.0001e-5, field


@pytest.fixture(scope="module")
def nltk_data(shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("nltk_data")
    with tarfile.open(shared / "nltk_data/nltk_data.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return str(folder)


# Our metric -> field of the cases. EntQA's "bleu4" is the 4-gram precision alone.
ENTQA = {
    "bleu_precision1[13a]": "bleu1",
    "bleu_precision4[13a]": "bleu4",
    "meteor[nltk3.9.1]": "meteor",
    "rouge1[nostem]": "rouge1",
    "rouge2[nostem]": "rouge2",
    "rougeL[nostem]": "rougeL",
    "rougeLsum[nostem]": "rougeLsum",
}


@pytest.mark.parametrize(("metric", "field"), ENTQA.items())
def test_entqa_baselines_of_the_recorded_cases(shared, nltk_data, metric, field):
    """Prediction: the explanation; reference: the question sentence; four decimals."""
    cases = [json.loads(line) for line in (shared / "facts/entqa-cases/cases.jsonl").open(encoding="utf-8")]
    assert len(cases) == 10
    settings = {"data": nltk_data} if metric.startswith("meteor") else {}
    found = score(metric, [case["explanation"] for case in cases], [case["question"] for case in cases], **settings)
    assert [round(value, 4) for value in found] == [case[field] for case in cases]


def test_real_bleu_4_is_another_quantity_than_entqas(shared):
    cases = [json.loads(line) for line in (shared / "facts/entqa-cases/cases.jsonl").open(encoding="utf-8")]
    real = score(
        "bleu[evaluate,13a,nosmooth]", [case["explanation"] for case in cases], [case["question"] for case in cases]
    )
    with_matches = [(value, case["bleu4"]) for value, case in zip(real, cases, strict=True) if case["bleu4"]]
    assert with_matches
    assert all(round(value, 4) != recorded for value, recorded in with_matches)


def test_meteor_without_its_data_is_refused_with_a_remedy(tmp_path):
    with pytest.raises(StudyError, match=r"corpora/wordnet.*fetch"):
        score("meteor[nltk3.9.1]", ["a"], ["b"], data=str(tmp_path))


# Model -> right answers by a plain pattern, as published with the fallback to "A", by our strict reading.
MIRAGE = {"gpt-35-turbo-16k": (64.57, 65.04, 820), "gpt-4-32k": (82.95, 83.97, 1056)}


@pytest.mark.parametrize("model", list(MIRAGE))
def test_options_read_out_of_raw_answers(shared, model):
    """MedQA with chain of thought: never above the published accuracy, which guesses "A" for the unreadable, and
    below the plain pattern's by the answers alone that name two options."""
    with open(shared / "data/medqa_usmle_4opt/medagents_medqa_test.jsonl", encoding="utf-8") as file:
        items = [json.loads(line) for line in file]
    plain, published, right = MIRAGE[model]
    outcomes = []
    with tarfile.open(shared / f"recorded/mirage_predictions/medqa__cot__{model}.tar.gz") as archive:
        for member in archive:
            if member.isfile():
                texts = json.load(archive.extractfile(member))
                item = items[int(member.name[-9:-5])]
                choice = chosen_option("".join(texts[:1]), list(item["options"].values()))
                outcomes.append((choice, item["answer_idx"]))
    assert len(outcomes) == 1273
    correct = sum(choice.letter == gold for choice, gold in outcomes)
    unparsed = [(choice, gold) for choice, gold in outcomes if choice.letter is None]
    several = [choice for choice, _ in unparsed if "several" in choice.reason]
    assert correct == right
    assert 0 <= round(1273 * plain / 100) - correct <= len(several)
    guessed = correct + sum(gold == "A" for _, gold in unparsed)
    assert abs(100 * guessed / 1273 - published) < 0.2
    assert 20 <= len(unparsed) <= 40


# Accuracy in per cent that follows from the files' letters.
MEDAGENTS = {"medmcqa/gpt-4o": 76.60, "mmlu/DeepSeek-R1": 95.04, "pubmedqa/claude-3-5-haiku": 73.80}


@pytest.mark.parametrize("name", list(MEDAGENTS))
def test_bare_letters_are_read(shared, name):
    task, model = name.split("/")
    path = shared / f"recorded/medagents_benchmark_zero_shot/{task}/{model}-{task}-test-zero_shot.json.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = json.load(file)
    letters = [chosen_option(row["predicted_answer"], list(row["options"].values())).letter for row in rows]
    correct = sum(letter == row["answer_idx"] for letter, row in zip(letters, rows, strict=True))
    assert round(100 * correct / len(rows), 2) == MEDAGENTS[name]
