"""The table of what a chat template changes, from the workflow, against means taken of the answers themselves."""

import json
from collections import defaultdict
from statistics import mean

import pandas as pd
import pytest
import yaml
from support.tiny_model import write_model

STAGES = ("greedy", "likelihoods")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A config of two models, one of which is asked both ways, and its folder of results."""
    folder = tmp_path_factory.mktemp("study")
    models = [
        {"name": name, "path": str(write_model(folder / name, context=2048)), "engine": "transformers"}
        for name in ("compared", "other")
    ]
    return folder, {
        "study": {"name": "template", "seed": 1},
        "results": str(folder / "results"),
        "rows": "resources/demo",
        "models": models,
        "groups": {"g": {"models": ["compared", "other"], "tasks": ["multiple_choice", "open_questions"]}},
        "benchmarks": {"careqa": {}, "careqa_open": {}},
        "inference": {"packs": "all", "max_new_tokens": 8},
        "chat_template_study": {"models": ["compared"]},
        "metrics": {"accuracy": {}, "perplexity": {}, "length": {}},
    }


@pytest.fixture(scope="module")
def results(snakemake, study):
    folder, config = study
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    arguments = ["--profile", "profiles/local", "--nolock", "--configfile", folder / "config.yaml", "--"]
    snakemake(*arguments, "chat_template")
    return folder / "results"


@pytest.fixture(scope="module")
def table(results):
    return pd.read_csv(results / "tables/chat_template.csv").set_index(["benchmark", "metric"])


def records(results, folder, stage):
    path = results / folder / stage / "compared/all/1-of-1.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize(("side", "folder"), [("off", "inference"), ("on", "chat_template_on")])
def test_accuracy_and_length_are_those_of_the_answers(results, table, side, folder):
    options = defaultdict(dict)
    for record in records(results, folder, "likelihoods"):
        if record["variant"] == "option":
            options[record["item_id"]][record["index"]] = sum(record["token_log_probabilities"])
    gold = {
        item["id"]: item["gold"]
        for item in map(json.loads, (results / "datasets/careqa.jsonl").read_text().splitlines())
    }
    right = [max(values, key=values.get) == gold[item] for item, values in options.items()]
    row = table.loc["careqa", "accuracy"]
    assert row["n"] == len(gold) == len(right)
    assert row[side] == pytest.approx(mean(right))
    words = [len(r["text"].split()) for r in records(results, folder, "greedy")]
    assert table.loc["careqa_open", "length[words]"][side] == pytest.approx(mean(words))


def test_differences_are_on_less_off(table):
    assert (table["difference"] - (table["on"] - table["off"])).abs().max() < 1e-6 * table["on"].abs().max()
    assert not any(name in ("word_perplexity", "byte_perplexity", "bits_per_byte") for _, name in table.index)
    assert ("careqa_open", "bits_per_byte[conditional]") in table.index
    assert set(table["model"]) == {"compared"}


def test_the_prompts_have_the_template_on_one_side_only(results):
    """The tiny model's template puts "user: " before and "assistant: " after each prompt."""
    for stage in STAGES:
        off, on = (
            {(r["item_id"], r["variant"], r["index"]): r for r in records(results, folder, stage)}
            for folder in ("inference", "chat_template_on")
        )
        assert off.keys() == on.keys()
        for key, record in off.items():
            if record["variant"] == "reference":
                assert record["token_log_probabilities"] == on[key]["token_log_probabilities"]
            else:
                assert record["prompt_tokens"] < on[key]["prompt_tokens"]


def test_the_page_tells_the_papers_claim(results):
    page = (results / "tables/chat_template.md").read_text()
    assert "multiple-choice scores fell and open-ended ones rose" in page
    assert "| CareQA (partial) | compared | Accuracy |" in page


def test_the_rest_of_the_study_does_not_know_of_it(snakemake, study, results):
    """Without the comparison in the config the answers are up to date, and no score or table is of the other side."""
    folder, config = study
    without = folder / "without.yaml"
    without.write_text(yaml.safe_dump({k: v for k, v in config.items() if k != "chat_template_study"}))
    targets = [results / f"inference/{stage}/compared/all/1-of-1.jsonl" for stage in STAGES]
    arguments = ["--profile", "profiles/local", "--nolock", "--dry-run"]
    plan = snakemake(*arguments, "--configfile", without, "--", *targets)
    assert "Nothing to be done" in plan.stdout + plan.stderr
    others = snakemake(*arguments, "--configfile", folder / "config.yaml", "--", "table20", "report").stdout
    inputs = [line for line in others.splitlines() if line.startswith("    input: ") and "/scores/" in line]
    assert inputs
    assert not any("chat_template_on" in line for line in inputs)
