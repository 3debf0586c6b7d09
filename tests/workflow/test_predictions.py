"""Answers in a table, from lm-evaluation-harness and from HELM give tables and report without running a model."""

import csv
import html
import json

import pandas as pd
import pytest
import yaml

LETTERS = "ABCD"


def rows(root, name):
    return [json.loads(line) for line in (root / f"resources/demo/{name}.jsonl").read_text().splitlines()][:4]


@pytest.fixture
def files(root, tmp_path):
    """Predictions for four closed and four open questions.

    Right letters: 4 of 4 by api-one, 3 by api-two, 1 by helm's model. The harness's most probable option is right
    twice. Open questions: api-one answers with the reference first, then with other words; api-two and the harness's
    model with other words.
    """
    closed, opened = rows(root, "careqa"), rows(root, "careqa_open")
    with open(tmp_path / "open.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["item", "system", "draw", "answer"])
        for row in opened:
            table.writerow([row["unique_id"], "lab/one", 1, row["answer"]])
            table.writerow([row["unique_id"], "lab/one", 2, "zzz"])
            table.writerow([row["unique_id"], "api-two", 1, "zzz zzz"])
        table.writerow(["demo-99", "lab/one", 1, "to no question"])
    for model, wrong in (("one", 0), ("two", 1)):
        lines = [
            {"id": row["unique_id"], "letter": f"The answer is {LETTERS[(row['cop'] - 1 + (number < wrong)) % 4]}."}
            for number, row in enumerate(closed)
        ]
        (tmp_path / f"{model}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    lines = [harness_line(row, right=number < 2) for number, row in enumerate(closed)]
    (tmp_path / "samples_careqa.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    lines = [
        {
            "doc": row,
            "target": row["answer"],
            "arguments": {"gen_args_0": {"arg_0": row["question"], "arg_1": {"until": ["\n\n"]}}},
            "resps": [["zzz"]],
            "filter": "none",
        }
        for row in opened
    ]
    (tmp_path / "samples_open.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    states = [helm_state(row, right=number < 1) for number, row in enumerate(closed)]
    run = {"adapter_spec": {"method": "multiple_choice_joint"}, "request_states": states}
    (tmp_path / "scenario_state.json").write_text(json.dumps(run))
    return tmp_path


def harness_line(row, *, right):
    gold = row["cop"] - 1
    best = gold if right else (gold + 1) % 4
    return {
        "doc": row,
        "target": str(gold),
        "arguments": {f"gen_args_{i}": {"arg_0": "…", "arg_1": f" {letter}"} for i, letter in enumerate(LETTERS)},
        "resps": [[[str(-1.0 if i == best else -2.0 - i), str(i == best)]] for i in range(4)],
        "filter": "none",
    }


def helm_state(row, *, right):
    options = [row[f"op{number}"] for number in range(1, 5)]
    return {
        "instance": {"input": {"text": row["question"]}, "references": [], "id": row["unique_id"]},
        "output_mapping": dict(zip(LETTERS, options, strict=True)),
        "result": {"success": True, "completions": [{"text": f" {LETTERS[(row['cop'] - right) % 4]}"}]},
    }


def config(files):
    table = {"path": str(files / "open.csv"), "id": "item", "text": "answer", "index": "draw", "model": "system"}
    recorded = {
        "api-one": {
            "careqa_open": {**table, "model_value": "lab/one"},
            "careqa": {"path": str(files / "one.jsonl"), "id": "id", "text": "letter"},
        },
        "api-two": {
            "careqa_open": table,
            "careqa": {"path": str(files / "two.jsonl"), "id": "id", "text": "letter"},
        },
        "harness": {
            "careqa_open": {"path": str(files / "samples_open.jsonl"), "format": "lm_eval"},
            "careqa": {"path": str(files / "samples_careqa.jsonl"), "format": "lm_eval", "id": "unique_id"},
        },
        "helm": {"careqa": {"path": str(files / "scenario_state.json"), "format": "helm", "holds": "answers"}},
    }
    return {
        "study": {"name": "elsewhere", "seed": 1},
        "results": str(files / "results"),
        "rows": "resources/demo",
        "models": [
            {"name": name, "engine": "recorded", "predictions": predictions} for name, predictions in recorded.items()
        ],
        "groups": {"metric_study": {"models": list(recorded), "tasks": ["multiple_choice", "open_questions"]}},
        "benchmarks": {"careqa": {"limit": 4}, "careqa_open": {"limit": 4}},
        "inference": {"samples": {"benchmarks": ["careqa_open"], "count": 2}},
        "metrics": {"accuracy": {}, "generated_accuracy": {}, "length": {}, "rouge": {}},
    }


def test_answers_from_elsewhere_reach_tables_and_report(snakemake, files):
    path, results = files / "config.yaml", files / "results"
    path.write_text(yaml.safe_dump(config(files)))
    snakemake("--profile", "profiles/local", "--nolock", "--configfile", path)

    means = pd.concat(map(pd.read_csv, (results / "statistics/means").glob("*/*.csv")))
    mean = means.set_index(["metric", "model"])["mean"].to_dict()
    assert {model: mean["accuracy[generated]", model] for model in ("api-one", "api-two", "helm")} == {
        "api-one": 1.0,
        "api-two": 0.75,
        "helm": 0.25,
    }
    assert mean["accuracy", "harness"] == mean["accuracy[norm=chars]", "harness"] == 0.5
    assert pd.isna(mean["accuracy[norm=tokens]", "harness"])
    assert [mean["rouge1[nostem]", model] for model in ("api-one", "api-two", "harness")] == [1.0, 0.0, 0.0]

    spread = pd.read_parquet(results / "statistics/dispersion/self_consistency/open_questions.parquet")
    spread = spread[spread["metric"] == "rouge1[nostem]"]
    # Two samples of 1 and 0; of the others there is one sample alone.
    assert set(spread["model"]) == {"api-one"}
    assert set(spread["variance"]) == {0.25}

    written = pd.read_csv(results / "tables/generated_accuracy.csv").set_index("model")["mean"]
    assert written.to_dict() == {"api-one": 1.0, "api-two": 0.75, "helm": 0.25}
    assert {"api-one", "api-two", "harness"} == set(pd.read_csv(*results.glob("tables/table16_*.csv"))["model"])
    report = html.unescape((results / "report.html").read_text())
    assert "1 of 9 predictions match no item's id: demo-99" in report
    assert "no file of predictions is named" in report
