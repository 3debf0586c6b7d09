"""Files that lm-evaluation-harness writes here, with --log_samples, on real questions and a tiny model."""

import json
import os
import subprocess

import pytest
import yaml
from support.tiny_model import write_model

from beyondqa import benchmarks, engines
from beyondqa.engines import recorded
from beyondqa.loading import load
from beyondqa.metrics import accuracy
from beyondqa.stages import likelihoods
from beyondqa.stages.base import Job

QUESTIONS = 5
PROMPT = "Question: {{question}}\nChoices:\nA. {{op1}}\nB. {{op2}}\nC. {{op3}}\nD. {{op4}}\nAnswer:"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("model"), context=2048)


@pytest.fixture(scope="module")
def items(root, shared):
    prompt = root / "resources/prompts/careqa.txt"
    return load("careqa", hub_mirror=shared / "hub", originals="", seed=0, prompt=prompt, limit=QUESTIONS).items


@pytest.fixture(scope="module")
def written(peer_python, shared, model, tmp_path_factory):
    """Task -> the file of samples: letters, with and without context, and two answers in text."""
    import pandas as pd

    folder = tmp_path_factory.mktemp("harness")
    path = shared / "hub/HPAI-BSC/CareQA/CareQA_en/test-00000-of-00001.parquet"
    rows = pd.read_parquet(path).head(QUESTIONS).to_dict("records")
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    common = {
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(folder / "rows.jsonl")}},
        "test_split": "test",
        "doc_to_text": PROMPT,
    }
    means = [{"metric": name} for name in ("acc", "acc_norm", "acc_bytes", "acc_mutual_info")]
    tasks = {
        "letters": {
            "output_type": "multiple_choice",
            "doc_to_choice": list("ABCD"),
            "doc_to_target": "{{cop - 1}}",
            "metric_list": means,
        },
        "texts": {
            "output_type": "generate_until",
            "doc_to_target": "{{op1}}",
            "generation_kwargs": {"until": ["\n\n"], "max_gen_toks": 8, "do_sample": True, "temperature": 1.0},
            "repeats": 2,
            "metric_list": [{"metric": "exact_match"}],
        },
    }
    for name, task in tasks.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump({"task": name, **common, **task}))
    command = [peer_python, "-m", "lm_eval", "--model", "hf", "--device", "cpu", "--log_samples"]
    command += ["--model_args", f"pretrained={model},dtype=float32", "--tasks", ",".join(tasks)]
    command += ["--include_path", folder, "--output_path", folder / "out"]
    offline = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HOME": str(folder / "cache")}
    subprocess.run(command, cwd=folder, env={**os.environ, **offline}, check=True, capture_output=True, timeout=900)
    return {name: next((folder / "out").rglob(f"samples_{name}_*.jsonl")) for name in tasks}


def entry(path, **settings):
    return {"name": "peer", "predictions": {"careqa": {"path": str(path), "format": "lm_eval", **settings}}}


@pytest.mark.parametrize("joined", [{}, {"id": "unique_id"}], ids=["by question", "by id"])
def test_accuracies_are_the_harness_s_question_by_question(written, items, joined):
    got = recorded.likelihoods(entry(written["letters"], **joined), items, "careqa")
    lines = [json.loads(line) for line in written["letters"].read_text().splitlines()]
    theirs = {line["doc"]["unique_id"]: line for line in lines}
    names = {"accuracy": "acc", "accuracy[norm=chars]": "acc_norm", "accuracy[norm=bytes]": "acc_bytes"}
    scores = list(accuracy.scores({item.id: item for item in items}, got, {}))
    for score in scores:
        line = theirs[score.item_id.removeprefix("careqa:")]
        assert score.value == (line[names[score.metric]] if score.metric in names else None), score
    assert len(scores) == 4 * QUESTIONS


def test_log_likelihoods_are_those_of_this_study_s_engine(written, items, model):
    """The same model asked here; the harness's prompts are the same, so that the sums are too."""
    theirs = {(g.item_id, g.index): g for g in recorded.likelihoods(entry(written["letters"]), items, "careqa")}
    engine = engines.load({"name": "tiny", "engine": "transformers", "directory": str(model), "context": 2048})
    job = Job("likelihoods", "tiny", 1, items, {"careqa": benchmarks.get("careqa")}, {})
    ours = list(engine.log_likelihoods(likelihoods.requests(job)))
    assert len(ours) == len(theirs) == 4 * QUESTIONS
    for answer in ours:
        other = theirs[answer.item_id, answer.index]
        assert other.total == pytest.approx(answer.total, abs=1e-4)
        assert other.is_greedy == answer.is_greedy


def test_every_response_is_a_sample(written, items):
    settings = entry(written["texts"], holds="answers")
    got = recorded.answers(settings, items, "careqa", variant="sample")
    lines = [json.loads(line) for line in written["texts"].read_text().splitlines()]
    wanted = [(line["doc"]["unique_id"], index, text) for line in lines for index, text in enumerate(line["resps"][0])]
    assert len(wanted) == 2 * QUESTIONS
    assert [(g.item_id.removeprefix("careqa:"), g.index, g.text) for g in got] == wanted
    assert recorded.summary(settings, items, "careqa")["faults"] == []
