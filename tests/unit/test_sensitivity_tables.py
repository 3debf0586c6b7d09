"""The tables of sensitivity and of human scores: what they show and what they say where nothing is there."""

import pandas as pd
import pytest

from beyondqa import figures, tables
from beyondqa.metric_human import COLUMNS as HUMAN_COLUMNS
from beyondqa.records import write_csv
from beyondqa.sensitivity.preferences import COLUMNS
from beyondqa.statistics.inputs import Inputs


@pytest.mark.parametrize("name", ["metric_human", "sensitivity"])
def test_without_data_the_table_says_why(name):
    (reason,) = tables.get(name).build(Inputs({}, {}, {})).data["reason"]
    assert reason.startswith(("The config names no answers", "The study has no open benchmark"))


def test_length_of_two_families_stands_once(tmp_path):
    row = ("FactualF1", "pooled", 400, 100, 0.25, 0.1, 0.4)
    for family, metric in (("a", "rouge1[nostem]"), ("b", "bleu")):
        rows = [(m, *row, *(0.5, 0.4, 0.6), "") for m in (metric, "length[words]")]
        write_csv(tmp_path / f"{family}.csv", pd.DataFrame(rows, columns=list(HUMAN_COLUMNS)))
    sheet = tables.get("metric_human").build(Inputs({"metric_human": [tmp_path / "a.csv", tmp_path / "b.csv"]}, {}, {}))
    assert list(sheet.data["metric"]) == ["bleu", "rouge1[nostem]", "length[words]"]
    assert set(sheet.display["r"]) == {"0.25 [0.10, 0.40]"}


CONSTANT = "the metric does not vary"
ROWS = [
    ("up", "Up", "", True, "reference", "harmful", "negation", 6, 2, 0.25, 0.1, 0.5, ""),
    ("up", "Up", "", True, "recorded answer", "harmful", "negation", 6, 2, 0.75, 0.1, 0.5, ""),
    ("low", "Low", "the real one", False, "reference", "harmful", "negation", 6, 2, 0.3, 0.1, 0.5, ""),
    ("flat", "Flat", "", True, "model's answer", "ladder", "m: 0 over 0.1", 8, 0, None, None, None, CONSTANT),
    ("up", "Up", "", True, "model's answer", "ladder", "m: 0 over 0.1", 8, 0, 1.0, 0.9, 1.0, ""),
]  # fmt: skip
LETTERS = ("letters", "Letters", "", True, "model's answer", "ladder", "m: 0 over 0.1", 8, 0, 0.5, 0.4, 0.6, "")
MODELS = {
    "m": {"label": "m", "derived_from": "", "noise": None},
    "m-1": {"label": "m-1", "derived_from": "m", "noise": 0.1},
    "m-2": {"label": "m-2", "derived_from": "m", "noise": 0.1},
}


@pytest.fixture
def inputs(tmp_path):
    write_csv(tmp_path / "c.csv", pd.DataFrame(ROWS[:3], columns=list(COLUMNS)))
    write_csv(tmp_path / "l.csv", pd.DataFrame([*ROWS[3:], LETTERS], columns=list(COLUMNS)))
    counts = [("reference", "negation", 6, 2), ("reference", "drop_25", 3, 5)]
    write_csv(tmp_path / "a.csv", pd.DataFrame(counts, columns=["source", "kind", "n_texts", "n_not_applicable"]))
    files = {"corruptions": [tmp_path / "c.csv"], "ladder": [tmp_path / "l.csv"], "applicability": [tmp_path / "a.csv"]}
    return Inputs(files, MODELS, {})


def test_the_table_of_sensitivity_has_every_metric_and_counts(inputs):
    sheet = tables.get("sensitivity").build(inputs)
    display = sheet.display.set_index(["Metric", "Text"])
    assert display.loc[("up", "reference"), "Probability"] == "0.25 [0.10, 0.50]"
    assert display.loc[("up", "recorded answer"), "Probability"] == "0.75 [0.10, 0.50]"
    assert display.loc[("low‡", "reference"), "Left out"] == "2"
    assert any("Low stands in for the real one" in note for note in sheet.notes)
    assert display.loc[("flat", "model's answer"), "Remark"] == CONSTANT
    assert "Of 8 texts (reference) an edit could be applied to: negation 6, drop 25 3." in sheet.notes
    assert any(note.startswith("Seeds of the noise: 2 at 0.1.") for note in sheet.notes)


def test_the_figure_of_sensitivity_has_the_headline_metrics_of_texts(inputs):
    drawing = figures.get("sensitivity_figure").draw(inputs)
    panels = {axes.get_title(): [text.get_text() for text in axes.texts] for axes in drawing.picture.axes}
    assert panels == {"Edited references, less noisy models": [".25", "1"], "Edited answers": [".75"]}
    assert drawing.picture.get_figwidth() < 3.4  # inches, one column of a paper in two columns
    assert set(drawing.data["metric"]) == {"up"}
