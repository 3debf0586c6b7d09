"""Means and their intervals against scipy, statsmodels' textbook formulas and hand-computed values."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beyondqa.errors import StudyError
from beyondqa.items import OpenItem, Score
from beyondqa.metrics.base import Metric
from beyondqa.records import scores_frame, write_parquet, write_records
from beyondqa.statistics import aggregation
from beyondqa.statistics.scores import item_groups, metrics_metadata, read_with_metrics

ACCURACY = Metric("accuracy", "Accuracy", True, 0.0, 1.0, floor=0.0)
PERPLEXITY = Metric("word_perplexity", "Word perplexity", False, 1.0, None, transform="exp", group="perplexity")
METRICS = {m.name: m for m in (ACCURACY, PERPLEXITY)}


def score(item, value, *, model="m", metric="accuracy", benchmark="b", weight=1.0, flags=(), variant="greedy"):
    reason = "" if value is not None else "undefined"
    return Score(item, benchmark, model, variant, 0, metric, value, weight, flags, reason)


@pytest.fixture
def load(tmp_path):
    """Scores as they come back from a file."""

    def loaded(scores):
        path = tmp_path / "scores.parquet"
        write_parquet(path, scores_frame(scores), metrics_metadata(METRICS))
        return read_with_metrics([path])

    return loaded


def summary(load, scores, groups=None, **options):
    return aggregation.means(*load(scores), groups or {}, seed=7, **options)


def test_mean_of_pooled_perplexity_is_that_of_the_harness(load):
    # lm-eval 0.4.13: weighted_perplexity([(-10.0, 4), (-30.0, 6)]) is 54.598150033144236.
    rows = [
        score("i1", 10 / 4, metric="word_perplexity", weight=4),
        score("i2", 30 / 6, metric="word_perplexity", weight=6),
    ]
    assert summary(load, rows).loc[0, "mean"] == pytest.approx(54.598150033144236, rel=1e-12)


def test_macro_mean_is_the_plain_mean_of_groups(load):
    rows = [score(f"i{i}", v) for i, v in enumerate([1, 1, 1, 0, 0])]
    groups = {"b": {"i0": "x", "i1": "x", "i2": "x", "i3": "x", "i4": "y"}}
    frame = summary(load, rows, groups)
    assert frame.loc[0, "mean"] == pytest.approx((3 / 4 + 0) / 2)
    assert frame.loc[0, "ci_unit"] == "items within groups"


def test_empty_answers_count_in_the_mean_and_stand_apart_in_the_other(load):
    rows = [score("i0", 0.0, flags=("empty",)), score("i1", 0.5), score("i2", 1.0), score("i3", None)]
    row = summary(load, rows).loc[0]
    assert (row["mean"], row["mean_answered"]) == (pytest.approx(0.5), pytest.approx(0.75))
    assert (row["n"], row["n_null"], row["n_empty"]) == (4, 1, 1)


def test_nothing_defined_gives_no_mean_and_a_reason(load):
    row = summary(load, [score("i0", None), score("i1", None)]).loc[0]
    assert np.isnan(row["mean"])
    assert np.isnan(row["ci_low"])
    assert row["reason"] == "no item has a defined value"


def test_groups_of_one_item_have_no_interval(load):
    rows = [score(f"i{i}", v) for i, v in enumerate([1, 0, 1])]
    row = summary(load, rows, {"b": {"i0": "x", "i1": "x", "i2": "y"}}).loc[0]
    assert row["mean"] == 0.75
    assert np.isnan(row["ci_low"])
    assert "fewer than two items" in row["reason"]


def test_interval_agrees_with_scipy_percentile_bootstrap(load):
    values = np.random.default_rng(1).beta(2, 5, size=80)
    row = summary(load, [score(f"i{i:03}", float(v)) for i, v in enumerate(values)]).loc[0]
    judge = stats.bootstrap((values,), np.mean, method="percentile", n_resamples=20_000, random_state=2)
    low, high = judge.confidence_interval
    # Two independent bootstraps of 2,000 and 20,000 draws: their ends differ by about a tenth of the standard error.
    assert row["ci_low"] == pytest.approx(low, abs=0.2 * judge.standard_error)
    assert row["ci_high"] == pytest.approx(high, abs=0.2 * judge.standard_error)


def test_macro_interval_has_the_stratified_standard_error(load):
    random = np.random.default_rng(3)
    sizes = {"x": 60, "y": 20}
    values = {g: random.binomial(1, p, size=n) for (g, n), p in zip(sizes.items(), (0.8, 0.5), strict=True)}
    rows = [score(f"{g}{i}", float(v)) for g, vs in values.items() for i, v in enumerate(vs)]
    groups = {"b": {f"{g}{i}": g for g, n in sizes.items() for i in range(n)}}
    frame, _ = load(rows)
    draws = aggregation.bootstrap(frame, "b", groups["b"], seed=7, draws=4000).draws[:, 0]
    # Textbook variance of a plain mean of two independent group means.
    expected = np.sqrt(sum(v.var() / len(v) for v in values.values())) / 2
    assert draws.std() == pytest.approx(expected, rel=0.05)


def test_resamples_are_the_same_for_every_model(load):
    values = np.random.default_rng(4).random(30)
    rows = [score(f"i{i}", float(v), model="one") for i, v in enumerate(values)]
    rows += [score(f"i{i}", float(v) / 2, model="two") for i, v in enumerate(values)]
    frame, _ = load(rows)
    result = aggregation.bootstrap(frame, "b", {}, seed=7, draws=50)
    assert np.allclose(result.draws[:, 0], 2 * result.draws[:, 1])
    alone = aggregation.bootstrap(frame[frame["model"] == "two"], "b", {}, seed=7, draws=50)
    assert np.allclose(alone.draws[:, 0], result.draws[:, 1], rtol=1e-12)


def test_other_seed_other_draws(load):
    frame, _ = load([score(f"i{i}", float(i)) for i in range(30)])
    one, two = (aggregation.bootstrap(frame, "b", {}, seed=s, draws=20).draws for s in (1, 2))
    assert not np.array_equal(one, two)


def test_order_of_rows_does_not_matter(load):
    rows = [score(f"i{i}", float(i % 3), model=m) for i in range(20) for m in ("a", "b")]
    pd.testing.assert_frame_equal(summary(load, rows), summary(load, rows[::-1]))


def test_file_without_metrics_is_named(tmp_path):
    write_parquet(tmp_path / "s.parquet", scores_frame([score("i", 1.0)]))
    with pytest.raises(StudyError, match=r"s\.parquet.*does not describe its metrics"):
        read_with_metrics([tmp_path / "s.parquet"])


def test_two_descriptions_of_one_metric_are_refused(tmp_path):
    for name, maximum in (("a", 1.0), ("b", 100.0)):
        other = Metric("accuracy", "Accuracy", True, 0.0, maximum, floor=0.0)
        write_parquet(tmp_path / name, scores_frame([score("i", 1.0)]), metrics_metadata({"accuracy": other}))
    with pytest.raises(StudyError, match=r"'accuracy' otherwise .*maximum"):
        read_with_metrics([tmp_path / "a", tmp_path / "b"])


def test_groups_come_from_the_items(tmp_path):
    items = [OpenItem(f"b:{i}", "b", "q", "r", "p", metadata={"subject": s}) for i, s in enumerate("xxy")]
    write_records(tmp_path / "b.jsonl", items)
    assert item_groups([tmp_path / "b.jsonl"], {"b": "subject"}) == {"b": {"b:0": "x", "b:1": "x", "b:2": "y"}}
    with pytest.raises(StudyError, match=r"record b:0: has no 'topic'"):
        item_groups([tmp_path / "b.jsonl"], {"b": "topic"})
