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


def test_table_and_figure_of_sensitivity_show_the_same_numbers(tmp_path):
    rows = [
        ("up", "harmful", "negation", 6, 2, 0.25, 0.1, 0.5, ""),
        ("flat", "ladder", "m: 0 over 0.1", 8, 0, None, None, None, "the metric does not vary"),
    ]
    write_csv(tmp_path / "c.csv", pd.DataFrame(rows, columns=list(COLUMNS)))
    inputs = Inputs({"corruptions": [tmp_path / "c.csv"]}, {}, {})
    display = tables.get("sensitivity").build(inputs).display.set_index("Metric")
    assert display.loc["up", "Probability"] == "0.25 [0.10, 0.50]"
    assert display.loc["flat", "Remark"] == "the metric does not vary"
    drawing = figures.get("sensitivity_figure").draw(inputs)
    assert [text.get_text() for text in drawing.picture.axes[0].texts] == [".25"]
    assert list(drawing.data["probability"].dropna()) == [0.25]
