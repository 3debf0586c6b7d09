"""`snakemake parity`, with a stand-in for vLLM: engines that agree pass, engines that do not fail and are named."""

import csv

import pytest
from support.tiny_model import write_model

CONFIG = """
study: {{name: parity, seed: 1}}
results: {results}
rows: resources/demo
models:
  - {{name: small, path: {model}, engine: transformers, parameters: 0.1, context: 400}}
  - {{name: large, path: {other}, engine: transformers, parameters: 0.2}}
groups: {{metric_study: {{models: [small, large], tasks: [multiple_choice, open_questions]}}}}
benchmarks: {{careqa: {{}}, careqa_open: {{}}}}
inference: {{packs: all}}
metrics: {{accuracy: {{}}}}
parity: {{items: 1}}
"""
SHIFT = 0.01


@pytest.fixture(scope="module")
def compare(snakemake, tmp_path_factory):
    """Run the target with a shift of the stand-in's log-probabilities; returns the process and the CSV's rows."""
    folder = tmp_path_factory.mktemp("parity")
    model, other, results = folder / "model", folder / "other", folder / "results"
    write_model(model, context=2048)
    config = folder / "config.yaml"
    config.write_text(CONFIG.format(model=model, other=other, results=results))

    def run(shift, *arguments):
        process = snakemake(
            *("parity", "--profile", "profiles/local", "--nolock", "--configfile", config, *arguments),
            check=False,
            env={"PYTHONPATH": "tests/support/stand_in_vllm", "STAND_IN_VLLM_SHIFT": str(shift)},
        )
        with open(results / "tables/parity.csv", newline="") as file:
            return process, list(csv.DictReader(file)), results

    return run


@pytest.fixture(scope="module")
def agreeing(compare):
    return compare(0)


def test_the_smallest_model_is_compared_and_engines_that_agree_pass(agreeing):
    process, rows, results = agreeing
    assert process.returncode == 0, process.stderr[-3000:]
    # One closed item with four options, one open item.
    assert [(row["model"], row["answers"], row["n"], row["equal"], row["apart"]) for row in rows] == [
        ("small", "option", "4", "4", "0"),
        ("small", "reference", "1", "1", "0"),
        ("small", "reference_given_prompt", "1", "1", "0"),
        ("small", "greedy", "1", "1", "0"),
    ]
    assert all(float(row["max_abs_diff"]) < 1e-4 for row in rows)
    page = (results / "tables/parity.md").read_text()
    assert page in process.stdout
    assert "apart\n" not in page


def test_engines_that_do_not_agree_fail_with_their_tables_left(agreeing, compare):
    process, rows, results = compare(SHIFT, "--forcerun", "ask_vllm_for_parity")
    assert process.returncode != 0
    assert "the engines do not agree about small (option), small (reference), small (reference_given_prompt)" in (
        process.stdout + process.stderr
    )
    apart = {row["answers"]: (int(row["equal"]), int(row["apart"])) for row in rows}
    assert apart == {"option": (0, 4), "reference": (0, 1), "reference_given_prompt": (0, 1), "greedy": (1, 0)}
    # The stand-in adds the shift to every token, so that a text's difference is a whole number of shifts.
    likelihoods = [row for row in rows if row["answers"] != "greedy"]
    assert [float(row["max_abs_diff"]) for row in likelihoods] == pytest.approx([SHIFT] * 3, abs=1e-4)
    shifts = {row["answers"]: float(row["max_abs_diff_total"]) / SHIFT for row in likelihoods}
    assert all(value == pytest.approx(round(value), abs=0.01) for value in shifts.values())
    assert shifts["reference"] > 3
    page = (results / "tables/parity.md").read_text()
    assert page.count(": apart") == sum(count for _, count in apart.values()) == 6
