"""Relaxed Perplexity with other numbers of samples and of best ones, against sums done by hand."""

import dataclasses
import math
import statistics

import pytest

from beyondqa.benchmarks.base import Benchmark, CredentialedSource
from beyondqa.errors import StudyError
from beyondqa.items import BranchLikelihoods, Generation, OpenItem
from beyondqa.records import read_csv, write_csv
from beyondqa.stages import relaxed_grid, relaxed_grid_completions
from beyondqa.stages.base import Job
from beyondqa.statistics.inputs import Inputs
from beyondqa.statistics.relaxed_grid import compared
from beyondqa.tables import relaxed_grid as table

SETTINGS = {
    "items": 2,
    "tokens": 1,
    "stride": 1,
    "best": [1, 2],
    "samples": [2, 3],
    "seeds": 2,
    "top_p": 0.9,
    "temperature": 1.0,
}
SOURCE = CredentialedSource(read=iter, columns=(), licence="", access="")
BENCHMARKS = {name: Benchmark(name, name, "factuality", "open", SOURCE, dict, {}) for name in ("op", "other")}
ITEMS = {
    f"{name}:{n}": OpenItem(f"{name}:{n}", name, "Q?", "Text.", "Q?") for name in ("op", "other") for n in range(9)
}


def job(stage, items, answers=(), seed=1):
    return Job(stage, "m", seed, list(items), BENCHMARKS, SETTINGS, answers=answers)


def drawn(*names, seed=1):
    items = [item for item in ITEMS.values() if item.benchmark in names]
    return list(dict.fromkeys(r.item_id for r in relaxed_grid_completions.requests(job("c", items, seed=seed))))


def test_some_items_of_each_benchmark_are_drawn_by_the_seed():
    assert len(drawn("op")) == 2
    assert drawn("op", "other") == drawn("op") + drawn("other")
    assert drawn("op") != ["op:0", "op:1"] or drawn("other") != ["other:0", "other:1"]
    assert len({tuple(drawn("op", seed=seed)) for seed in range(20)}) > 5


def test_there_are_completions_enough_for_the_largest_number_of_samples():
    requests = relaxed_grid_completions.requests(job("c", [ITEMS["op:0"]]))
    assert [(r.index, r.max_new_tokens, r.suppress_end) for r in requests] == [(k, 1, True) for k in range(6)]
    assert len({r.seed for r in requests}) == 6


def completions(item):
    """Three a seed; the third is the best, the second the worst."""
    return [
        Generation(item, "op", "m", "fixed", index, "", "length", token_ids=(index,), token_log_probabilities=(value,))
        for index, value in enumerate([-1.0, -2.0, -0.5] * 2)
    ]


def test_what_counts_for_any_setting_is_asked_once():
    requests = relaxed_grid.requests(job("relaxed_grid", [ITEMS["op:0"]], completions("op:0")))
    # Of s = 2 the best are 0 and 1, of s = 3 they are 2 and 0; the empty prefix is represented by the best.
    asked = {r.index: r.positions for r in requests}
    assert asked == {0: (0, 1), 1: (1,), 2: (0, 1), 3: (0, 1), 4: (1,), 5: (0, 1)}
    assert len(requests) == 6


# P(text | nothing, and after each completion), by item and seed.
ALONE = 0.1
AFTER = {
    ("op:0", 0): (0.2, 0.3, 0.4),
    ("op:0", 1): (0.1, 0.1, 0.9),
    ("op:1", 0): (0.5, 0.25, 0.2),
    ("op:1", 1): (0.3, 0.2, 0.1),
}
COUNTING = {(1, 2): [0], (2, 2): [0, 1], (1, 3): [2], (2, 3): [2, 0]}


def likelihoods():
    return [
        BranchLikelihoods(
            item, "op", "m", "fixed/reference/0", 3 * seed + k, (0, 1), (math.log(ALONE), math.log(probability)), 4
        )
        for (item, seed), values in AFTER.items()
        for k, probability in enumerate(values)
    ]


def by_hand(best, samples):
    """Cross-entropy sums, a row an item and a column a seed."""
    return [
        [-math.log(ALONE) - math.log(sum(AFTER[item, seed][k] for k in COUNTING[best, samples])) for seed in (0, 1)]
        for item in ("op:0", "op:1")
    ]


@pytest.fixture
def frame():
    records = [*completions("op:0"), *completions("op:1"), *likelihoods()]
    return compared({name: ITEMS[name] for name in ("op:0", "op:1")}, records, SETTINGS, seed=1)


def test_means_and_deviations_over_seeds(frame):
    sums = frame[frame["name"] == "relaxed_cross_entropy_sum"].set_index(["best", "samples"])
    assert sorted(sums.index) == sorted(COUNTING)
    first = [statistics.mean(row) for row in by_hand(1, 2)]
    for (best, samples), row in sums.iterrows():
        values = by_hand(best, samples)
        of_items = [statistics.mean(of_item) for of_item in values]
        of_seeds = [statistics.mean(of_seed) for of_seed in zip(*values, strict=True)]
        differences = [value - base for value, base in zip(of_items, first, strict=True)]
        assert row["mean"] == pytest.approx(statistics.mean(of_items))
        assert row["deviation"] == pytest.approx(statistics.pstdev(of_seeds))
        assert row["deviation_within_items"] == pytest.approx(statistics.mean(map(statistics.pstdev, values)))
        assert row["difference"] == pytest.approx(statistics.mean(differences), abs=1e-12)
        # Of two items a resample has both, or one of them twice.
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((min(differences), max(differences)), abs=1e-12)
        assert (row["n"], row["n_null"], row["seeds"], row["text"]) == (2, 0, 2, "reference")


def shown(frame, tmp_path):
    write_csv(tmp_path / "grid.csv", frame)
    models = {"m": {"label": "M", "derived_from": "", "noise": None}}
    benchmarks = {"op": {"title": "Open", "task": "factuality", "kind": "open"}}
    return table.TABLE.build(Inputs({"relaxed_grid": [tmp_path / "grid.csv"]}, models, benchmarks))


def test_the_table_has_a_column_a_pair_of_numbers(frame, tmp_path):
    sheet = shown(frame, tmp_path)
    assert list(sheet.display.columns)[4:] == ["l = 1, s = 2", "l = 2, s = 2", "l = 1, s = 3", "l = 2, s = 3"]
    row = sheet.display[sheet.display["Value"] == "Cross-entropy, sum"].iloc[0]
    values = by_hand(1, 2)
    mean = statistics.mean(map(statistics.mean, values))
    deviation = statistics.pstdev(map(statistics.mean, zip(*values, strict=True)))
    assert row["l = 1, s = 2"] == f"{mean:.3f} ± {deviation:.3f}"
    assert row["l = 2, s = 2"].count("[") == 1
    assert len(sheet.data) == len(read_csv(tmp_path / "grid.csv"))


@pytest.mark.parametrize(("column", "value"), [("tokens", 2), ("stride", 2), ("variant", "eos"), ("top_p", 0.5)])
def test_a_table_of_scores_that_differ_in_more_is_refused(frame, tmp_path, column, value):
    other = frame.assign(model="m", **{"tokens": 2, column: value})
    with pytest.raises(StudyError, match="different settings would share a table"):
        shown(type(frame)([*frame.to_dict("records"), *other.to_dict("records")]), tmp_path)


def test_an_item_without_a_value_is_counted_and_left_out(frame):
    items = {name: dataclasses.replace(ITEMS[name], must_have=("x",)) for name in ("op:0",)}
    huge = [BranchLikelihoods("op:0", "op", "m", "fixed/must_have/0", k, (0, 1), (-9e3, -9e3), 4) for k in range(6)]
    found = compared(items, [*completions("op:0"), *huge], SETTINGS, seed=1)
    row = found[(found["name"] == "relaxed_perplexity") & (found["best"] == 1)].iloc[0]
    assert (row["n"], row["n_null"]) == (0, 2)
    assert math.isnan(row["mean"])
    assert row["reason"] == "no item has a value"
