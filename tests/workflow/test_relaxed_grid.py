"""The table of Relaxed Perplexity by l and s, from the workflow, against probabilities summed here from the records."""

import json
import math
from statistics import mean, pstdev

import pandas as pd
import pytest
import yaml
from support.tiny_model import write_model

TOKENS, STRIDE, SEEDS = 6, 3, 2
BEST, SAMPLES = [2, 3], [3, 6]


@pytest.fixture(scope="module")
def results(snakemake, tmp_path_factory):
    folder = tmp_path_factory.mktemp("grid")
    grid = {"benchmarks": ["olaph"], "items": 1, "tokens": TOKENS, "stride": STRIDE, "seeds": SEEDS}
    config = {
        "study": {"name": "grid", "seed": 1},
        "results": str(folder / "results"),
        "rows": "resources/demo",
        "models": [{"name": "tiny", "path": str(write_model(folder / "model", context=512)), "engine": "transformers"}],
        "groups": {"g": {"models": ["tiny"], "tasks": ["factuality"]}},
        "benchmarks": {"olaph": {}},
        "inference": {"packs": "all", "relaxed_grid": {**grid, "best": BEST, "samples": SAMPLES}},
        "metrics": {"length": {}},
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    snakemake("--profile", "profiles/local", "--nolock", "--configfile", folder / "config.yaml", "--", "relaxed_grid")
    return folder / "results"


def records(results, stage):
    path = results / f"inference/{stage}/tiny/all/1-of-1.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def cross_entropy(completions, probabilities, best, samples):
    """-log of the product over positions of the sum over distinct prefixes of the best; logarithms by hand, since
    the tiny model's probabilities are too small to be summed as they are."""
    ranked = sorted(completions[:samples], key=lambda c: -math.fsum(c["token_log_probabilities"]))[:best]
    total = 0.0
    for position in range(0, TOKENS + 1, STRIDE):
        seen, terms = set(), []
        for completion in ranked:
            prefix = tuple(completion["token_ids"][:position])
            if prefix not in seen:
                seen.add(prefix)
                terms.append(probabilities[prefix])
        largest = max(terms)
        total -= largest + math.log(sum(math.exp(term - largest) for term in terms))
    return total


def test_every_cell_is_the_sum_of_its_probabilities(results):
    completions = sorted(records(results, "relaxed_grid_completions"), key=lambda c: c["index"])
    assert len(completions) == SEEDS * max(SAMPLES)
    likelihoods = records(results, "relaxed_grid")
    texts = sorted({r["variant"] for r in likelihoods if r["variant"].startswith("fixed/must_have/")})
    assert texts
    table = pd.read_csv(results / "tables/relaxed_grid.csv")
    rows = table[(table["text"] == "must_have") & (table["name"] == "relaxed_cross_entropy_sum")]
    assert [tuple(row) for row in rows[["best", "samples"]].to_numpy()] == [(b, s) for b in BEST for s in SAMPLES]
    for row in rows.itertuples():
        of_seeds = []
        for seed in range(SEEDS):
            own = completions[seed * max(SAMPLES) : (seed + 1) * max(SAMPLES)]
            by_text = []
            for text in texts:
                probabilities = {
                    tuple(completions[record["index"]]["token_ids"][:position]): value
                    for record in likelihoods
                    if record["variant"] == text and record["index"] // max(SAMPLES) == seed
                    for position, value in zip(record["positions"], record["log_probabilities"], strict=True)
                }
                by_text.append(cross_entropy(own, probabilities, row.best, row.samples))
            of_seeds.append(mean(by_text))
        assert row.mean == pytest.approx(mean(of_seeds), rel=1e-9)
        assert row.deviation == pytest.approx(pstdev(of_seeds), rel=1e-6, abs=1e-9)
        assert (row.n, row.seeds) == (1, SEEDS)


def test_the_page_has_a_column_a_pair_of_numbers(results):
    page = (results / "tables/relaxed_grid.md").read_text()
    assert "| l = 2, s = 3 | l = 3, s = 3 | l = 2, s = 6 | l = 3, s = 6 |" in page
    assert f"n = {TOKENS}, stride {STRIDE}, variant main" in page
