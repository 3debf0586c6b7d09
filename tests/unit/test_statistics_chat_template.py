"""With and without the chat template: means and paired differences done by hand, and what is refused."""

import math

import numpy as np
import pytest

from beyondqa.errors import StudyError
from beyondqa.items import Score
from beyondqa.metrics.base import Metric
from beyondqa.records import scores_frame
from beyondqa.statistics.chat_template import compared

ACCURACY = Metric("accuracy", "Accuracy", True, 0.0, 1.0)
PERPLEXITY = Metric("word_perplexity[conditional]", "Word perplexity", False, 0.0, None, transform="exp")
METRICS = {metric.name: metric for metric in (ACCURACY, PERPLEXITY)}


def scores(metric, values, weights=None, benchmark="b", flags=()):
    weights = weights or [1.0] * len(values)
    return [
        Score(
            f"{benchmark}:{i}",
            benchmark,
            "m",
            "v",
            0,
            metric.name,
            value,
            weight,
            flags,
            "" if value is not None else "?",
        )
        for i, (value, weight) in enumerate(zip(values, weights, strict=True))
    ]


def rows(off, on, groups=None, **changes):
    frame = compared(scores_frame(off), scores_frame(on), METRICS, groups or {}, seed=1, **changes)
    return {(row.benchmark, row.metric): row for row in frame.itertuples()}


def test_means_and_difference():
    row = rows(scores(ACCURACY, [1, 0, 0, 1]), scores(ACCURACY, [1, 1, 1, 1], flags=("empty",)))["b", "accuracy"]
    assert (row.off, row.on, row.difference) == (0.5, 1.0, 0.5)
    assert (row.n, row.n_null, row.n_empty_off, row.n_empty_on) == (4, 0, 0, 4)
    # The mean of four draws from 0, 1, 1, 0: binomial quantiles are 0 and 1, as far as 2,000 draws tell.
    assert (row.ci_low, row.ci_high) == (0.0, 1.0)


def test_an_items_two_scores_are_drawn_together():
    """Scores far apart between items whose difference is the same everywhere: no resample moves it."""
    values = [0.0, 10.0, 20.0, 30.0]
    row = rows(scores(ACCURACY, values), scores(ACCURACY, [v + 0.25 for v in values]))["b", "accuracy"]
    assert (row.difference, row.ci_low, row.ci_high) == pytest.approx((0.25, 0.25, 0.25))


def test_perplexities_are_pooled_on_each_side_before_they_are_subtracted():
    """exp(sum of nats / sum of words): (3*1 + 1*2)/4 and (3*2 + 1*3)/4 nats a word."""
    row = rows(scores(PERPLEXITY, [1.0, 2.0], [3, 1]), scores(PERPLEXITY, [2.0, 3.0], [3, 1]))["b", PERPLEXITY.name]
    assert row.off == pytest.approx(math.exp(5 / 4))
    assert row.on == pytest.approx(math.exp(9 / 4))
    assert row.difference == pytest.approx(math.exp(9 / 4) - math.exp(5 / 4))
    # A resample has both items, or the first alone, or the second alone.
    possible = [math.exp(b) - math.exp(a) for a, b in ((1, 2), (5 / 4, 9 / 4), (2, 3))]
    assert row.ci_low == pytest.approx(possible[0])
    assert row.ci_high == pytest.approx(possible[2])


def test_an_item_undefined_on_one_side_counts_on_neither():
    row = rows(scores(ACCURACY, [1, 0, None]), scores(ACCURACY, [1, None, 1]))["b", "accuracy"]
    assert (row.off, row.on, row.n, row.n_null) == (1.0, 1.0, 1, 2)
    assert math.isnan(row.ci_low)
    assert row.reason == "no interval from fewer than two items"
    nothing = rows(scores(ACCURACY, [None, 1]), scores(ACCURACY, [1, None]))["b", "accuracy"]
    assert math.isnan(nothing.difference)
    assert (nothing.n, nothing.n_null, nothing.reason) == (0, 2, "no item has a value on both sides")


def test_a_benchmark_whose_mean_is_over_groups():
    groups = {"b": {"b:0": "x", "b:1": "y", "b:2": "y", "b:3": "x"}}
    row = rows(scores(ACCURACY, [0, 0, 0, 0]), scores(ACCURACY, [1, 0, 0, 1]), groups)["b", "accuracy"]
    assert (row.difference, row.ci_low, row.ci_high, row.ci_unit) == (0.5, 0.5, 0.5, "items within groups")
    uneven = {"b": {"b:0": "x", "b:1": "y", "b:2": "y"}}
    row = rows(scores(ACCURACY, [0, 0, 0]), scores(ACCURACY, [1, 0, 1]), uneven)["b", "accuracy"]
    assert (row.difference, row.reason) == (0.75, "no interval: a group has fewer than two items")


def test_the_interval_is_that_of_the_paired_differences():
    """Against numpy's own bootstrap of the differences, to the noise of 2,000 draws."""
    random = np.random.default_rng(3)
    off, on = random.normal(0, 1, 60), random.normal(0.3, 1, 60)
    row = rows(scores(ACCURACY, list(off)), scores(ACCURACY, list(on)))["b", "accuracy"]
    draws = random.choice(on - off, (20_000, 60)).mean(axis=1)
    assert (row.ci_low, row.ci_high) == pytest.approx(np.quantile(draws, [0.025, 0.975]), abs=0.03)


def test_an_item_asked_on_one_side_only_is_refused():
    both = scores(ACCURACY, [1, 0])
    with pytest.raises(StudyError, match=r"record b:1: accuracy of m is known only without the chat template"):
        rows(both, both[:1])
    with pytest.raises(StudyError, match=r"record b:1: accuracy of m is known only with the chat template"):
        rows(both[:1], both)


def test_benchmarks_stand_apart():
    off = scores(ACCURACY, [0, 0]) + scores(ACCURACY, [1, 1, 1], benchmark="c")
    on = scores(ACCURACY, [1, 1]) + scores(ACCURACY, [0, 0, 0], benchmark="c")
    found = rows(off, on)
    assert [found[name, "accuracy"].difference for name in ("b", "c")] == [1.0, -1.0]
