"""Duplicates and faults that were put into items by hand, and near-duplicates against brute force."""

import dataclasses
import itertools
import random

import pytest

from beyondqa.data_quality import checks, head_qa, report
from beyondqa.data_quality.duplicates import NEAR_JACCARD, Pair, find_pairs, overlaps, shingles, whole_text
from beyondqa.errors import StudyError
from beyondqa.items import MultipleChoiceItem, OpenItem
from beyondqa.records import write_json

WORDS = [
    "acute",
    "bilateral",
    "chronic",
    "dose",
    "enzyme",
    "fever",
    "glucose",
    "hepatic",
    "insulin",
    "jugular",
    "kidney",
]
WORDS += ["lesion", "membrane", "nerve", "oxygen", "plasma", "quinine", "renal", "serum", "tissue", "ulcer", "valve"]


def closed(name, question, *options, benchmark="one", gold=0, context="", **metadata):
    options = options or ("yes", "no")
    letters = tuple(f" {chr(65 + n)}" for n in range(len(options)))
    return MultipleChoiceItem(name, benchmark, question, options, letters, gold, "p", context, metadata)


def opened(name, question, reference, benchmark="open", **fields):
    return OpenItem(name, benchmark, question, reference, "p", **fields)


# ---- duplicates


def kinds(pairs):
    return [(p.kind, p.id_a, p.id_b) for p in pairs]


def test_identical_whatever_case_punctuation_and_order_of_options():
    items = [
        closed("a", "What lowers glucose?", "Insulin.", "Glucagon."),
        closed("b", "what lowers  glucose ?:", "glucagon", "insulin"),
    ]
    assert find_pairs(items) == [Pair("identical", "one", "a", "one", "b", 1.0)]


def test_signs_make_another_item():
    items = [closed("a", "Charge of the ion?", "+2", "+1"), closed("b", "Charge of the ion?", "-2", "-1")]
    ((kind, _, _),) = kinds(find_pairs(items))
    assert kind != "identical"


def test_same_question_with_other_options():
    items = [
        closed("a", "Which is true?", "The heart has four chambers.", "It has three."),
        closed("b", "Which is true?", "Aspirin inhibits cyclooxygenase.", "It is an opioid."),
    ]
    (pair,) = find_pairs(items)
    assert pair.kind == "same_question"
    a, b = ({whole_text(i)[n : n + 5] for n in range(len(whole_text(i)) - 4)} for i in items)
    assert pair.jaccard == pytest.approx(len(a & b) / len(a | b))


def test_context_belongs_to_the_question():
    items = [closed("a", "Does it work?", context="Trial one of aspirin"), closed("b", "Does it work?", context="Xyz")]
    assert find_pairs(items) == []


def test_n_equal_items_make_n_minus_one_pairs_in_each_benchmark_and_one_across():
    items = [closed(f"{b}{n}", "Same?", benchmark=b) for b in ("x", "y") for n in range(3)]
    assert kinds(find_pairs(items)) == [
        ("identical", "x0", "x1"),
        ("identical", "x0", "x2"),
        ("identical", "x0", "y0"),
        ("identical", "y0", "y1"),
        ("identical", "y0", "y2"),
    ]


def test_open_items_are_compared_with_their_references():
    items = [opened("a", "Why?", "Because."), opened("b", "why", "because"), opened("c", "Why?", "Not that one at all")]
    assert kinds(find_pairs(items)) == [("identical", "a", "b"), ("same_question", "a", "c")]


def test_near_pairs_are_those_of_brute_force():
    draw = random.Random(7)
    items = []
    for n in range(60):
        words = draw.choices(WORDS, k=30)
        items.append(opened(f"{n:02}a", " ".join(words), "r"))
        for position in draw.sample(range(30), k=n % 8):
            words[position] = draw.choice(WORDS)
        items.append(opened(f"{n:02}b", " ".join(words), "r"))
    texts = {item.id: {whole_text(item)[k : k + 5] for k in range(len(whole_text(item)) - 4)} for item in items}
    expected = {
        (a, b)
        for a, b in itertools.combinations(sorted(texts), 2)
        if len(texts[a] & texts[b]) / len(texts[a] | texts[b]) >= NEAR_JACCARD and texts[a] != texts[b]
    }
    found = {(p.id_a, p.id_b): p.jaccard for p in find_pairs(items) if p.kind == "near"}
    assert 10 < len(expected) < 60
    assert set(found) == expected
    for (a, b), value in found.items():
        assert value == pytest.approx(len(texts[a] & texts[b]) / len(texts[a] | texts[b]))


def test_order_of_items_moves_nothing_but_the_representative():
    items = [opened(str(n), f"question {n} of {w}", "reference text") for n, w in enumerate(WORDS)]
    assert find_pairs(items) == find_pairs(items[::-1])


def test_overlaps_count_items_on_either_side():
    pairs = [Pair("near", "x", "1", "y", "1", 0.8), Pair("near", "x", "1", "y", "2", 0.9)]
    assert overlaps(pairs) == [
        {"benchmark_a": "x", "benchmark_b": "y", "kind": "near", "pairs": 2, "items_a": 1, "items_b": 2}
    ]


def test_shingles_of_short_and_odd_texts():
    assert len(shingles("")) == 1
    assert len(shingles("abc")) == 1
    assert len(shingles("abcdef")) == 2
    assert len(shingles("\ud800abcd")) == 3


# ---- faults


def faults(*items, language="en"):
    found = checks.find_faults(items, {item.benchmark: language for item in items})
    return [(f.check, f.item_id, f.detail) for f in found]


def test_duplicate_options_name_the_positions_and_the_gold():
    assert faults(closed("a", "Which disease is it?", "Measles.", "Mumps.", "measles", "Rubella", gold=2)) == [
        ("duplicate_options", "a", "options 1, 3 are equal, the right one among them")
    ]
    assert faults(closed("a", "Which disease is it?", "Mumps", "Measles.", "measles")) == [
        ("duplicate_options", "a", "options 2, 3 are equal")
    ]
    assert faults(closed("a", "Which charge does the ion have?", "+2.", "-2.", "2.")) == []


def test_empty_fields():
    items = [
        closed("a", "Which disease is it?", "Measles", " ", context="A report", topic=None, year=0),
        closed("b", "Which disease is it?", "Measles", "Mumps", context="", topic="", year=1),
        opened("c", "Why is it so?", "For this reason.", must_have=("one", ""), nice_to_have=("",)),
    ]
    assert sorted(faults(*items)) == [
        ("empty_field", "a", "metadata topic is null"),
        ("empty_field", "a", "option 2 is empty"),
        ("empty_field", "b", "context is empty"),
        ("empty_field", "b", "metadata topic is empty"),
        ("empty_field", "c", "must-have statement 2 is empty"),
        ("empty_field", "c", "nice-to-have statement 1 is empty"),
    ]


def test_benchmarks_without_contexts_lack_none():
    assert faults(closed("a", "Which disease is it?", "Measles", "Mumps")) == []


SPANISH = opened(
    "es", "¿Qué hormona reduce la glucosa en la sangre del paciente?", "La insulina, que libera el páncreas."
)
ENGLISH = opened("en", "Which hormone lowers the glucose in a patient's blood?", "Insulin, released by the pancreas.")


def test_other_language():
    ((check, name, detail),) = faults(SPANISH, ENGLISH)
    assert (check, name) == ("other_language", "es")
    assert detail.startswith("es with probability")
    assert [name for _, name, _ in faults(SPANISH, ENGLISH, language="es")] == ["en"]


def test_latin_names_are_no_other_language():
    assert faults(closed("a", "Whooping cough is caused by:", "Bordetella pertussis", "Moraxella catarrhalis")) == []


def test_length_outliers():
    items = [opened(f"{n}", "word " * (8 + n % 5), "Because of this reason.") for n in range(40)]
    items += [opened("long", "word " * 400, "Because of this reason."), opened("short", "word", "Because of this.")]
    found = [(name, detail) for check, name, detail in faults(*items) if check == "length_outlier"]
    assert found == [("long", "question of 400 words"), ("short", "question of 1 words")]


def test_gold_balance():
    # scipy's chi-square of (30, 10) against (20, 20): statistic 10, p = erfc(sqrt(5)) = .00157.
    rows = checks.gold_balance([closed(str(n), "q", gold=int(n >= 30)) for n in range(40)])
    assert [(r["position"], r["count"], r["share"]) for r in rows] == [(0, 30, 0.75), (1, 10, 0.25)]
    assert rows[0]["p"] == pytest.approx(0.0015654, abs=1e-6)


@pytest.mark.parametrize(
    ("items", "reason"),
    [
        ([closed("a", "q"), closed("b", "q", "x", "y", "z")], "items have 2 to 3 options"),
        ([closed("a", "q")], "fewer than five expected at a position"),
    ],
)
def test_gold_balance_undefined(items, reason):
    assert {(row["p"], row["reason"]) for row in checks.gold_balance(items)} == {(None, reason)}


# ---- the report


def test_summary_and_page():
    items = [
        closed("careqa:a", "What lowers the blood glucose?", "Insulin", "Glucagon", benchmark="careqa"),
        closed("careqa:b", "What lowers the blood glucose?", "Insulin.", "Glucagon", benchmark="careqa"),
        closed("head_qa:x|<b>", "What lowers the blood glucose?", "Glucagon", "Insulin", benchmark="head_qa"),
        closed("head_qa:y", "Which disease has a rash like this?", "Measles", "Measles.", benchmark="head_qa"),
    ]
    quality = report.examine(items, {"careqa": "en", "head_qa": "en"})
    assert quality.summary[0] == {
        "benchmark": "careqa",
        "items": 2,
        "identical": 1,
        "near": 0,
        "same_question": 0,
        "duplicate_options": 0,
        "empty_field": 0,
        "other_language": 0,
        "length_outlier": 0,
        "gold_p": None,
    }
    assert quality.summary[1]["duplicate_options"] == 1
    page = report.page(quality)
    assert "Of CareQA's 2 items, 1 are identical to one of HEAD-QA's 2 items, 0 nearly so, and 0 more" in page
    assert "head_qa:x\\|&lt;b>" in page
    assert "blood glucose" not in page


def test_tables_without_rows_have_columns_and_benchmarks_without_items_a_row():
    tables = report.frames(report.examine([closed("a", "Is the rash of this kind?")], {"one": "en", "none": "en"}))
    assert tables["summary"][["benchmark", "items"]].to_numpy().tolist() == [["one", 1], ["none", 0]]
    assert list(tables["pairs"].columns) == ["kind", "benchmark_a", "id_a", "benchmark_b", "id_b", "jaccard"]
    assert list(tables["findings"].columns) == ["check", "benchmark", "item_id", "detail"]
    assert list(tables["overlaps"].columns)[:3] == ["benchmark_a", "benchmark_b", "kind"]


def test_page_without_head_qa():
    assert "Not measured" in report.page(report.examine([closed("a", "Is the rash of this kind?")], {"one": "en"}))


# ---- HEAD-QA


def head_qa_file(folder, monkeypatch, **changes):
    answers = [{"aid": 2, "atext": "No"}, {"aid": 1, "atext": "Yes"}]
    question = {"qid": "7", "qtext": "Is it?", "ra": "1", "answers": answers, **changes}
    path = folder / "head_qa_en/HEAD_EN.json"
    write_json(path, {"exams": {"Exam_2013": {"year": "2013", "category": "biology", "data": [question]}}})
    unpinned = dataclasses.replace(head_qa.SOURCE.files[0], sha256=None)
    monkeypatch.setattr(head_qa, "SOURCE", dataclasses.replace(head_qa.SOURCE, files=(unpinned,)))
    return path


def test_head_qa_options_by_their_numbers(tmp_path, monkeypatch):
    head_qa_file(tmp_path, monkeypatch)
    (item,) = head_qa.read_head_qa(tmp_path)
    assert (item.id, item.options, item.gold) == ("head_qa:Exam_2013:7", ("Yes", "No"), 0)


@pytest.mark.parametrize("changes", [{"ra": "3"}, {"ra": "x"}, {"answers": None}, {"qtext": " "}, {"answers": [{}]}])
def test_broken_questions_of_head_qa_are_named(tmp_path, monkeypatch, changes):
    head_qa_file(tmp_path, monkeypatch, **changes)
    with pytest.raises(StudyError, match=r"HEAD_EN\.json, record Exam_2013, question 7: is no question .*fetch"):
        head_qa.read_head_qa(tmp_path)


@pytest.mark.parametrize("content", ["[]", '{"exams": 1}', '{"exams": {"a": {}}}', "<html>", "{"])
def test_broken_file_of_head_qa_is_named(tmp_path, monkeypatch, content):
    head_qa_file(tmp_path, monkeypatch).write_text(content)
    with pytest.raises(StudyError, match=r"HEAD_EN\.json"):
        head_qa.read_head_qa(tmp_path)


def test_another_file_than_the_pinned_one_is_refused(tmp_path):
    write_json(tmp_path / "head_qa_en/HEAD_EN.json", {"exams": {}})
    with pytest.raises(StudyError, match="sha256"):
        head_qa.read_head_qa(tmp_path)
