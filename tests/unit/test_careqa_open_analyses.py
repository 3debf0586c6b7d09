"""Tables 1, 3, 4, 5 and figures 3 to 6 from items written here; numbers counted by hand."""

from pathlib import Path

import pandas as pd
import pytest

from beyondqa import figures, tables
from beyondqa.figures.base import write as write_figure
from beyondqa.items import MultipleChoiceItem, OpenItem
from beyondqa.records import write_csv, write_json, write_records
from beyondqa.statistics import careqa
from beyondqa.statistics.inputs import Inputs
from beyondqa.tables.base import write as write_table

PUBLISHED = [
    Path(__file__).resolve().parents[2] / "resources/published" / name
    for name in ("careqa_open_construction.csv", "human_evaluation.csv")
]


def closed(name, question, category="Biology", year=2023, options=("one two", "three")):
    metadata = {"category": category, "year": year, "unique_id": name}
    return MultipleChoiceItem(f"careqa:{name}", "careqa", question, options, (" A", " B"), 0, "p", "", metadata)


def opened(name, question, reference="one two", benchmark="careqa_open", **metadata):
    return OpenItem(f"{benchmark}:{name}", benchmark, question, reference, "p", metadata=metadata)


CLOSED = [
    closed("a", "one two three"),
    closed("b", "One two", year=2024),
    closed("c", "four", "Nursing", options=("five six seven", "five $x_1$ & <b>|")),
]
OPEN = [opened("x", "What is one?", unique_id="a", category="Biology", year=2023), opened("y", "What is five?")]


def inputs(tmp_path, items=(), **files):
    paths = {"careqa": [], "construction": [], "human_evaluation": [], **files}
    if items:
        write_records(tmp_path / "items.jsonl", items)
        paths["careqa"] = [tmp_path / "items.jsonl"]
    titles = {"careqa": "CareQA", "careqa_open": "CareQA-Open", "careqa_open_rebuilt": "CareQA-Open (rebuilt)"}
    benchmarks = {
        name: {"title": title, "task": "t", "kind": "open", "partial": False} for name, title in titles.items()
    }
    return Inputs({name: list(map(str, found)) for name, found in paths.items()}, {}, benchmarks)


@pytest.fixture
def both(tmp_path):
    return inputs(tmp_path, [*CLOSED, *OPEN])


# ---- the numbers


def test_counts_by_category_and_year():
    table = careqa.counts([*CLOSED, opened("z", "Why?")])
    assert table.to_dict("index") == {
        "Biology": {"2023": 1, "2024": 1, "not stated": 0},
        "Nursing": {"2023": 1, "2024": 0, "not stated": 0},
        "not stated": {"2023": 0, "2024": 0, "not stated": 1},
    }


def test_token_statistics_by_hand():
    every, biology, nursing = careqa.token_statistics(CLOSED)
    assert every == {
        "category": "all",
        "items": 3,
        "question_max": 3,
        "question_mean": 2.0,
        "answer_max": 4,
        "answer_mean": (2 + 1 + 2 + 1 + 3 + 4) / 6,
        # one two three One | four five six seven $x_1$ & <b>|
        "vocabulary": 11,
    }
    assert (biology["items"], biology["vocabulary"]) == (2, 4)
    assert (nursing["items"], nursing["answer_mean"]) == (1, 3.5)


def test_answer_of_an_open_question_is_its_reference():
    (row, _) = careqa.token_statistics([opened("x", "Why so?", "because of that", category="Biology")])
    assert (row["answer_max"], row["vocabulary"]) == (3, 5)


def test_pairs_join_by_either_id():
    rebuilt = opened("b", "What?", benchmark="careqa_open_rebuilt", closed_id="careqa:b")
    stray = opened("q", "What?", unique_id="nowhere")
    found = careqa.pairs({"careqa": CLOSED, "careqa_open": [*OPEN, stray], "careqa_open_rebuilt": [rebuilt]})
    assert [(a.id, b.id) for a, b in found] == [
        ("careqa:a", "careqa_open:x"),
        ("careqa:b", "careqa_open_rebuilt:b"),
    ]


def test_one_a_category_is_of_median_length():
    items = [closed(str(n), "word " * (n + 1)) for n in range(5)] + [closed("n", "word", "Nursing")]
    assert [item.id for item in careqa.one_a_category(items[::-1])] == ["careqa:2", "careqa:n"]


# ---- the tables


def test_table_4(both):
    sheet = tables.get("table04").build(both)
    assert list(sheet.display.columns)[:4] == ["Set", "Category", "Items", "Longest question"]
    assert sheet.display.iloc[0].tolist() == ["CareQA", "all", "3", "3", "2.00", "4", "2.17", "11"]
    assert set(sheet.data["tokenizer"]) == {"whitespace"}


def test_table_3_has_one_question_a_category(both):
    sheet = tables.get("table03").build(both)
    assert sheet.data["item_id"].tolist() == ["careqa:b", "careqa:c"]
    assert sheet.display.loc[1, "Options"] == "A. five six seven\nB. five $x_1$ & <b>|"


def test_table_5_shows_pairs(both):
    sheet = tables.get("table05").build(both)
    assert sheet.data[["closed_id", "open_id"]].to_numpy().tolist() == [["careqa:a", "careqa_open:x"]]
    assert sheet.notes[0].startswith("1 open questions")


@pytest.mark.parametrize("name", ["table03", "table04", "table05"])
def test_tables_without_items_say_so(tmp_path, name):
    sheet = tables.get(name).build(inputs(tmp_path))
    assert sheet.display.empty
    assert sheet.notes[0].startswith(("The study has no", "No open question"))


@pytest.mark.parametrize("name", ["table03", "table04", "table05"])
def test_tables_are_written_with_what_texts_hold(both, tmp_path, name):
    table = tables.get(name)
    write_table(table, table.build(both), tmp_path / "t")
    assert "five $x_1$ & <b>|" not in (tmp_path / "t.tex").read_text()


def test_a_bar_inside_a_text_makes_no_column(both, tmp_path):
    table = tables.get("table03")
    write_table(table, table.build(both), tmp_path / "t")
    rows = [line for line in (tmp_path / "t.md").read_text().splitlines() if line.startswith("|")]
    assert [len(row.replace("\\|", "").strip("|").split("|")) for row in rows] == [5] * 4


def test_table_1(tmp_path):
    rows = [
        {"task": "Multiple choice questions", "benchmark": "careqa", "title": "CareQA", "metrics": ["Accuracy"]},
        {"task": "Open", "benchmark": "careqa_open", "title": "CareQA-Open", "metrics": ["BLEU", "BERTScore‡"]},
        {"task": "Open", "benchmark": "careqa_open_rebuilt", "title": "Rebuilt", "metrics": ["BLEU"]},
    ]
    write_json(tmp_path / "o.json", rows)
    sheet = tables.get("table01").build(inputs(tmp_path, overview=[tmp_path / "o.json"]))
    assert sheet.display.to_numpy().tolist() == [
        ["Multiple choice questions", "Accuracy", "CareQA"],
        ["Open", "BLEU, BERTScore‡", "CareQA-Open, CareQA-Open (rebuilt)"],
    ]
    assert len(sheet.data) == 3
    assert any("stand-in" in note for note in sheet.notes)


# ---- the figures


@pytest.mark.parametrize("name", ["figure03", "figure05", "figure06"])
def test_figures_are_drawn(both, tmp_path, name):
    figure = figures.get(name)
    drawing = figure.draw(both)
    write_figure(figure, drawing, tmp_path / "f")
    assert (tmp_path / "f.png").read_bytes().startswith(b"\x89PNG")
    assert len(drawing.data)


@pytest.mark.parametrize("name", ["figure03", "figure05", "figure06"])
def test_figures_without_items_say_so(tmp_path, name):
    assert figures.get(name).draw(inputs(tmp_path)).notes[0].startswith("The study has no items")


def test_figure_3_shows_the_pair(both):
    data = figures.get("figure03").draw(both).data
    assert data["item_id"].tolist() == ["careqa:a", "careqa_open:x"]
    assert "A. one two ✓" in data["text"][0]
    assert "Answer: one two" in data["text"][1]


def test_figure_5_draws_the_counts(both):
    data = figures.get("figure05").draw(both).data
    assert data.groupby("category")["items"].sum().to_dict() == {"Biology": 2, "Nursing": 1}
    assert figures.get("figure06").draw(both).data["items"].sum() == 2


def test_figure_4_sets_the_study_beside_the_paper(tmp_path):
    counts = [
        {"step": step, "category": category, "quantity": "questions", "reason": reason, "count": count}
        for step, before, after in [("keywords", 9, 8), ("rephrasing", 8, 7), ("selection", 7, 6), ("validation", 6, 5)]
        for category in ("all", "Biology")
        for reason, count in (("all", before), ("kept", after))
    ]
    write_csv(tmp_path / "counts.csv", pd.DataFrame(counts))
    summary = [
        {"evaluation": "iteration_1", "category": "all", "quantity": "all_3", "value": 0.5},
        {"evaluation": "iteration_1", "category": "Biology", "quantity": "all_3", "value": 0.1},
    ]
    write_csv(tmp_path / "summary.csv", pd.DataFrame(summary))
    given = inputs(
        tmp_path,
        construction=[tmp_path / "counts.csv"],
        human_evaluation=[tmp_path / "summary.csv"],
        resources=PUBLISHED,
    )
    data = figures.get("figure04").draw(given).data
    own = data[data["origin"] == "this study"]
    questions = own[own["quantity"] == "questions"].set_index("step")["value"].to_dict()
    assert questions == {"start": 9, "keywords": 8, "rephrasing": 7, "selection": 6, "validation": 5}
    assert own[own["quantity"] == "all_3"]["value"].tolist() == [0.5]
    paper = data[(data["origin"] == "paper") & (data["quantity"] == "questions")].set_index("step")["value"].to_dict()
    # Paper 1, section 2.1.
    assert paper == {"start": 5621, "selection": 3730, "validation": 2769}


def test_figure_4_without_a_construction(tmp_path):
    drawing = figures.get("figure04").draw(inputs(tmp_path, resources=PUBLISHED))
    assert set(drawing.data["origin"]) == {"paper"}
    assert "the paper's numbers stand alone" in drawing.notes[0]
