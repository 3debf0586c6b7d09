"""Table 2 and figure 7 from summaries made of known judgements."""

import pandas as pd

from beyondqa import figures, tables
from beyondqa.figures.base import write as write_figure
from beyondqa.human_evaluation import Judgement, summarise
from beyondqa.records import write_csv
from beyondqa.statistics.inputs import Inputs

PUBLISHED = "resources/published/human_evaluation.csv"
VERDICTS = {"a": "yyy", "b": "yyn", "c": "nnn", "d": "yyyn"}
CATEGORIES = {"a": "Biology", "b": "Biology", "c": "Nursing", "d": "Nursing"}


def summary(path, evaluation):
    judgements = [Judgement(i, f"e{n}", v == "y") for i, row in VERDICTS.items() for n, v in enumerate(row)]
    frame = pd.DataFrame(summarise(judgements, CATEGORIES))
    frame.insert(0, "evaluation", evaluation)
    write_csv(path, frame)
    return str(path)


def inputs(*summaries):
    return Inputs({"human_evaluation": list(summaries), "resources": [PUBLISHED]}, {}, {})


def test_table_2_sets_published_figures_beside_ours(root, monkeypatch, tmp_path):
    monkeypatch.chdir(root)
    paths = [summary(tmp_path / "2.csv", "iteration_1"), summary(tmp_path / "1.csv", "translation")]
    sheet = tables.get("table02").build(inputs(*paths))
    shown = sheet.display.set_index(["Evaluation", "Origin", "Category"])
    assert list(shown.index) == [
        ("Translation", "this study", "all"),
        ("Translation", "this study", "Biology"),
        ("Translation", "this study", "Nursing"),
        ("Translation", "published", "all"),
        ("Rephrasing, iteration 1", "this study", "all"),
        ("Rephrasing, iteration 1", "this study", "Biology"),
        ("Rephrasing, iteration 1", "this study", "Nursing"),
        ("Rephrasing, iteration 1", "published", "all"),
        ("Rephrasing, iteration 2", "published", "all"),
    ]
    # a: 1, b: 0, c: 0, d: one of four triples, 1/4.
    assert shown.loc[("Translation", "this study", "all"), "All three"].startswith("31.2% [")
    assert shown.loc[("Translation", "this study", "all"), "All of the item's"].startswith("25.0% [")
    assert shown.loc[("Translation", "this study", "all"), "Items"] == "4"
    # The paper's text: 98.6 % and 83.1 %; it. 2: 73.6 %.
    assert shown.loc[("Translation", "published", "all"), "At least one of three"] == "98.6%"
    assert shown.loc[("Translation", "published", "all"), "All three"] == "83.1%"
    assert shown.loc[("Rephrasing, iteration 2", "published", "all"), "At least one of three"] == "–"
    assert shown.loc[("Rephrasing, iteration 2", "published", "all"), "All three"] == "73.6%"


def test_table_2_without_filled_sheets(root, monkeypatch):
    monkeypatch.chdir(root)
    sheet = tables.get("table02").build(inputs())
    assert set(sheet.display["Origin"]) == {"published"}
    assert "no filled sheets" in sheet.notes[-1]


def test_figure_7_draws_every_category(tmp_path):
    figure = figures.get("figure07")
    drawing = figure.draw(
        inputs(summary(tmp_path / "1.csv", "translation"), summary(tmp_path / "2.csv", "iteration_2"))
    )
    write_figure(figure, drawing, tmp_path / "f")
    assert set(drawing.data["category"]) == {"all", "Biology", "Nursing"}
    assert set(drawing.data["quantity"]) == {"at_least_1", "at_least_2", "all_3"}
    assert len(drawing.picture.axes) == 2


def test_figure_7_without_filled_sheets():
    assert "no filled sheets" in figures.get("figure07").draw(inputs()).notes[0]
