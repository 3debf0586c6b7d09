"""Preferences between texts, with values worked out by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beyondqa import metrics
from beyondqa.metrics.base import Metric
from beyondqa.sensitivity.corruptions import corrupted
from beyondqa.sensitivity.edits import ORIGINAL, Edit
from beyondqa.sensitivity.preferences import (
    corruption_preferences,
    evaluate,
    harmless_above,
    ladder_preferences,
    preference,
    summary,
)


def test_harmless_edits_against_a_harmful_one():
    scores = {
        ("synonym", ("a", "")): 0.9, ("unit", ("a", "")): 0.5, ("negation", ("a", "")): 0.5,
        ("synonym", ("b", "")): 0.1, ("negation", ("b", "")): 0.2,
        ("negation", ("no harmless edit", "")): 0.3,
        ("synonym", ("no harmful edit", "")): 0.3,
    }  # fmt: skip
    assert harmless_above(scores, "negation") == {"a": 0.75, "b": 0.0}


def test_answers_of_several_models_count_as_one_item():
    scores = {(kind, ("a", model)): value for model in "mno" for kind, value in (("unit", 1.0), ("number", 0.0))}
    scores |= {
        ("unit", ("a", "p")): 0.0,
        ("number", ("a", "p")): 0.0,
        ("unit", ("b", "m")): 0.0,
        ("number", ("b", "m")): 1.0,
    }
    assert harmless_above(scores, "number") == {"a": (3 * 1 + 0.5) / 4, "b": 0.0}  # fmt: skip


def test_differences_of_the_last_digits_are_ties():
    assert [preference(0.3, 0.1 + 0.2), preference(-2.0000001, -2.0), preference(0.0, 0.0)] == [0.5, 0.5, 0.5]
    assert [preference(0.30001, 0.3), preference(-2.001, -2.0)] == [1.0, 0.0]


def test_the_interval_is_that_of_a_binomial_mean():
    """Of 400 items half are preferred: the bootstrap interval of the mean is the normal one to a percent."""
    n, left_out, p, low, high, reason = summary(dict(enumerate([0.0, 1.0] * 200)), 410, False, seed=1)
    assert (n, left_out, p, reason) == (400, 10, 0.5, "")
    half = stats.norm.ppf(0.975) * 0.5 / np.sqrt(400)
    assert (low, high) == pytest.approx((0.5 - half, 0.5 + half), abs=0.01)


def test_what_has_no_value_says_why():
    assert summary({}, 3, False, seed=1) == (0, 3, None, None, None, "no item has both texts")
    assert summary({"a": 0.5, "b": 0.5}, 2, True, seed=1)[2:] == (None, None, None, "the metric does not vary")
    assert summary({"a": 1.0}, 1, False, seed=1)[2:] == (1.0, None, None, "no interval from one item")


METRICS = {
    "up": Metric("up", "up", True, 0.0, 1.0),
    "down": Metric("down", "down", False, 0.0, None, headline=False),
    "flat": Metric("flat", "flat", True, 0.0, 1.0),
}
NOISES = {"base": ("base", 0.0), "n1 seed 0": ("base", 0.1), "n1 seed 1": ("base", 0.1), "n2": ("base", 0.2)}
# item -> scores of base, two seeds of noise 0.1, noise 0.2
VALUES = {"a": (0.9, 0.8, 0.9, 0.1), "b": (0.2, 0.3, 0.1, 0.2)}


def test_a_ladder_with_two_seeds_a_level():
    rows = [
        ("up", "bench", item, model, value)
        for item, values in VALUES.items()
        for model, value in zip(NOISES, values, strict=True)
    ]
    rows += [("down", *row[1:4], -row[4]) for row in rows] + [("flat", *row[1:4], 0.0) for row in rows]
    rows.append(("up", "bench", "a", "unrelated", 0.0))
    frame = pd.DataFrame(rows, columns=["metric", "benchmark", "item_id", "model", "value"])
    found = ladder_preferences(frame, METRICS, NOISES, seed=1).set_index(["metric", "comparison"])
    # Item a: above and tied, 0.75; item b: below and above, 0.5. Then a: 1, 1; b: 1, 0.
    for metric in ("up", "down"):
        assert found.loc[(metric, "base: 0 over 0.1")].probability == 0.625
        assert found.loc[(metric, "base: 0.1 over 0.2")].probability == 0.75
        assert found.loc[(metric, "base: 0 over 0.1")].n_items == 2
        assert found.loc[(metric, "base: 0 over 0.1")].headline == (metric == "up")
    assert pd.isna(found.loc[("flat", "base: 0 over 0.1")].probability)
    assert found.loc[("flat", "base: 0 over 0.1")].reason == "the metric does not vary"
    assert len(found) == 6


def test_items_without_a_score_on_one_side_are_left_out_and_counted():
    values = {("x", "base"): 1.0, ("x", "n2"): 0.0, ("y", "base"): 1.0, ("y", "n2"): None}
    rows = [("up", "b", *key, value) for key, value in values.items()]
    frame = pd.DataFrame(rows, columns=["metric", "benchmark", "item_id", "model", "value"])
    noises = {name: NOISES[name] for name in ("base", "n2")}
    (row,) = ladder_preferences(frame, METRICS, noises, seed=1).itertuples()
    assert (row.n_items, row.n_not_applicable, row.probability) == (1, 1, 1.0)


TEXTS = {"a": "It was 5 mg", "b": "That was 7 mg"}


def edits(model="", texts=TEXTS):
    """Edits of the texts, scored against TEXTS, without entities."""
    made = {ORIGINAL: texts, **corrupted(texts, dict.fromkeys(texts, ()))}
    return [Edit("bench", i, model, kind, text, TEXTS[i]) for kind, found in made.items() for i, text in found.items()]


def test_length_sees_an_inserted_not_and_no_tenfold():
    """Words by hand: harmless keeps 4 words (5 mg -> 5 milligrams); "not" makes 5, tenfold keeps 4."""
    rows = corruption_preferences(edits(), {"length": {}}, seed=1).set_index("comparison")
    assert (rows.loc["negation"].probability, rows.loc["number"].probability) == (0.0, 0.5)
    assert rows.loc["antonym"].reason == "no item has both texts"
    assert rows.loc["antonym"].n_not_applicable == 2
    assert set(rows["source"]) == {"reference"}


def test_references_and_answers_stand_apart():
    """The answer's harmless edit adds no word; its negation does. In b, "mg" is in full already."""
    answers = edits("m", {"a": "Take 5 mg", "b": "It was 5 milligrams"}) + edits("n", {"a": "It was 5 mg"})
    found = corruption_preferences([*edits(), *answers], {"length": {}}, seed=1)
    rows = found[found["source"] == "recorded answer"].set_index("comparison")
    assert tuple(rows.loc["number", ["n_items", "n_not_applicable", "probability"]]) == (1, 1, 0.5)
    assert tuple(rows.loc["negation", ["n_items", "n_not_applicable", "probability"]]) == (1, 1, 0.0)
    references = found[found["source"] == "reference"].set_index("comparison")
    assert references.loc["number"].n_items == 2


def test_any_function_is_scored_on_the_edits():
    """A judge that knows the number: the unit in full keeps it, tenfold does not; nothing else changes it."""

    def same_number(predictions, references):
        digits = [("".join(filter(str.isdigit, t)) for t in pair) for pair in zip(predictions, references, strict=True)]
        return [float(a == b) for a, b in digits]

    rows = evaluate(same_number, edits(), name="same number").set_index("comparison")
    assert rows.loc["number"].probability == 1.0
    assert rows.loc["negation"].probability == 0.5
    assert set(rows["metric"]) == {"same number"}
    worse = evaluate(same_number, edits(), higher_is_better=False).set_index("comparison")
    assert worse.loc["number"].probability == 0.0


NEW_METRIC = """
from beyondqa.metrics.base import Metric, Values

FAMILY, ENVIRONMENT, INPUT = "lexical", "analysis", "answers"


def metrics(settings):
    return (Metric("characters", "Characters", True, 0.0, None),)


def values(pairs, settings, threads=1):
    return Values({"characters": [float(len(prediction)) for prediction, _ in pairs]})
"""


def test_a_metric_in_a_new_file_is_scored_too(tmp_path, monkeypatch):
    """Characters by hand: "mg" to "milligrams" adds 8, "not" 4, a digit 1: harmless is longer than both."""
    (tmp_path / "characters.py").write_text(NEW_METRIC)
    monkeypatch.setattr(metrics, "__path__", [*metrics.__path__, str(tmp_path)])
    from beyondqa import registry

    registry._module_names.cache_clear()
    rows = corruption_preferences(edits(), {"characters": {}}, seed=1).set_index("comparison")
    registry._module_names.cache_clear()
    assert (rows.loc["negation"].probability, rows.loc["number"].probability) == (1.0, 1.0)
    assert set(rows["metric_label"]) == {"Characters"}
