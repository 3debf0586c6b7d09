"""Dispersion against numpy's population variance and properties of its scalings."""

import numpy as np
import pytest

from beyondqa.items import Score
from beyondqa.metrics.base import Metric
from beyondqa.records import scores_frame
from beyondqa.statistics.dispersion import dispersion

ROUGE = Metric("rouge1", "ROUGE-1", True, 0.0, 1.0, floor=0.0)
BLEURT = Metric("bleurt", "BLEURT", True, None, None)
VALUES = {"i1": [0.2, 0.4, 0.9], "i2": [0.1, 0.1, 0.1], "i3": [0.0, 0.0, 0.0]}


def frame(values=VALUES, metric="rouge1", scale=1.0, shift=0.0):
    rows = [
        Score(
            item, "b", "m", "sample", i, metric, None if v is None else v * scale + shift, reason="none" * (v is None)
        )
        for item, vs in values.items()
        for i, v in enumerate(vs)
    ]
    return scores_frame(rows)


def by_item(scores, metric=ROUGE):
    return dispersion(scores, {metric.name: metric}).set_index("item_id")


def test_variance_and_coefficient_of_variation_are_of_the_population():
    result = by_item(frame())
    sample = np.array(VALUES["i1"])
    assert result.at["i1", "variance"] == pytest.approx(np.var(sample))
    assert result.at["i1", "coefficient_of_variation"] == pytest.approx(np.std(sample) / np.mean(sample))
    assert result.at["i1", "n"] == 3


def test_the_three_scalings():
    result = by_item(frame())
    variance = np.var(VALUES["i1"])
    assert result.at["i1", "variance_by_range"] == pytest.approx(variance / 0.9)
    assert result.at["i1", "variance_by_squared_range"] == pytest.approx(variance / 0.9**2)
    assert result.at["i1", "variance_by_variance_range"] == pytest.approx(1.0)  # the others have variance 0


def test_headline_scaling_does_not_depend_on_the_unit_and_the_literal_one_does():
    one, other = by_item(frame()), by_item(frame(scale=4.0, shift=1.0))
    assert other.at["i1", "variance_by_squared_range"] == pytest.approx(one.at["i1", "variance_by_squared_range"])
    # A 0-1 scale stretched to 1-5 multiplies variance / range by 4.
    assert other.at["i1", "variance_by_range"] == pytest.approx(4 * one.at["i1", "variance_by_range"])


def test_range_is_over_all_models():
    scores = frame()
    other = frame({"i1": [0.0, 5.0, 1.0]}).assign(model="other")
    import pandas as pd

    result = dispersion(pd.concat([scores, other]), {"rouge1": ROUGE})
    mine = result[(result["model"] == "m") & (result["item_id"] == "i1")].iloc[0]
    assert mine["variance_by_squared_range"] == pytest.approx(np.var(VALUES["i1"]) / 25)


def test_zero_mean_has_no_coefficient_of_variation():
    result = by_item(frame())
    assert np.isnan(result.at["i3", "coefficient_of_variation"])
    assert "mean of 0" in result.at["i3", "reason"]


def test_a_metric_of_either_sign_has_no_coefficient_of_variation():
    result = by_item(frame(metric="bleurt"), BLEURT)
    assert result["coefficient_of_variation"].isna().all()
    assert "either sign" in result.at["i1", "reason"]


def test_undefined_values_are_left_out_and_one_is_too_few():
    result = by_item(frame({"i1": [0.2, 0.4, None], "i2": [0.3, None, None]}))
    assert result.at["i1", "variance"] == pytest.approx(np.var([0.2, 0.4]))
    assert result.at["i1", "n"] == 2
    assert np.isnan(result.at["i2", "variance"])
    assert result.at["i2", "reason"] == "fewer than two defined values"


def test_equal_values_everywhere_have_no_range():
    result = by_item(frame({"i1": [0.5, 0.5], "i2": [0.5, 0.5]}))
    assert result["variance"].tolist() == [0, 0]
    assert result["variance_by_squared_range"].isna().all()
    assert "no range" in result.at["i1", "reason"]


def test_items_answered_once_are_no_part_of_it():
    assert list(by_item(frame({"i1": [0.2, 0.4], "i9": [0.3]})).index) == ["i1"]


def test_nothing_repeated_gives_no_rows():
    assert len(dispersion(frame({"i1": [0.3]}), {"rouge1": ROUGE})) == 0
