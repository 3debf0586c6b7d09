"""BERTScore and BLEURT with the published weights, judged by values that other groups recorded.

They run where the weights lie in the mirror of the Hub (BEYONDQA_HUB_MIRROR, by default resources/hub).
"""

import gzip
import json
import os
from pathlib import Path

import pytest

from beyondqa.scoring import score_pairs

from .test_metrics_aci_bench import ABSENT, FILES, SPLITS, pairs_of, published


@pytest.fixture(scope="module")
def weights(root):
    mirror = Path(os.environ.get("BEYONDQA_HUB_MIRROR", root / "resources" / "hub"))

    def find(repository):
        folder = mirror / repository
        if not (folder / "config.json").is_file():
            pytest.skip(f"the weights of {repository} are not in {mirror.name}")
        return str(folder)

    return find


def scored(module, metric, pairs, settings):
    columns, _ = score_pairs(pairs, {module: settings})
    return columns[metric].values


@pytest.mark.parametrize("test", list(SPLITS))
@pytest.mark.parametrize("system", list(FILES))
def test_aci_bench_bertscore(shared, weights, test, system):
    if (test, system) in ABSENT:
        pytest.skip("the source has no predictions of this row")
    path = weights("microsoft/deberta-xlarge-mnli")
    entry = {"name": "deberta-xlarge-mnli", "path": path, "pickled_weights": True, "layer": 40}
    values = scored(
        "bertscore",
        "bertscore_f1[deberta-xlarge-mnli,L40]",
        pairs_of(shared, test, system),
        {"encoders": [entry]},
    )
    assert 100 * sum(values) / len(values) == pytest.approx(
        float(published(shared, test)[system]["BERTScore"]), abs=0.01
    )


@pytest.mark.parametrize("test", list(SPLITS))
@pytest.mark.parametrize("system", list(FILES))
def test_aci_bench_bleurt(shared, weights, test, system):
    if (test, system) in ABSENT:
        pytest.skip("the source has no predictions of this row")
    entry = {"name": "BLEURT-20", "path": weights("lucadiliello/BLEURT-20"), "pickled_weights": True}
    values = scored("bleurt", "bleurt[BLEURT-20]", pairs_of(shared, test, system), {"checkpoints": [entry]})
    assert 100 * sum(values) / len(values) == pytest.approx(float(published(shared, test)[system]["BLEURT"]), abs=0.01)


def olaph_answers(shared, model):
    path = shared / f"recorded/olaph_sampled_predictions/pdata_{model}_kqa_golden_sampling.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [
        (text, row["Free_form_answer"], recorded)
        for row in rows
        for text, recorded in zip(row["sample_predictions"], row["prediction_scores"], strict=True)
    ]


OLAPH_MODELS = ["gemma-7b", "llama3-8b-instruct", "llama3-8b", "mistral-7b", "selfbiorag-7b"]


@pytest.mark.parametrize("model", OLAPH_MODELS)
def test_olaph_bertscore_of_every_answer(shared, weights, model):
    entry = {"name": "roberta-large", "path": weights("FacebookAI/roberta-large"), "layer": 17}
    answers = olaph_answers(shared, model)
    values = scored(
        "bertscore",
        "bertscore_f1[roberta-large,L17]",
        [(text, reference) for text, reference, _ in answers],
        {"encoders": [entry]},
    )
    assert list(values) == pytest.approx([recorded["bert_score_f1"] for _, _, recorded in answers], abs=1e-4)


@pytest.mark.parametrize("model", OLAPH_MODELS)
def test_olaph_bleurt_of_every_answer(shared, weights, model):
    entry = {"name": "BLEURT-20-D12", "path": weights("lucadiliello/BLEURT-20-D12"), "pickled_weights": True}
    answers = olaph_answers(shared, model)
    values = scored(
        "bleurt",
        "bleurt[BLEURT-20-D12]",
        [(text, reference) for text, reference, _ in answers],
        {"checkpoints": [entry]},
    )
    assert list(values) == pytest.approx([recorded["bleurt"] for _, _, recorded in answers], abs=1e-4)
