"""Which texts are edited, and the file of the edits."""

import pytest

from beyondqa.errors import StudyError
from beyondqa.items import Generation, OpenItem
from beyondqa.sensitivity import edits as e

ITEMS = [OpenItem(f"b:{n}", "b", "Q?", f"Gout number {n} is treated with ibuprofen {n} mg.", "Q?") for n in range(1, 4)]


def answer(model, item, text, index=0):
    return Generation(item, "b", model, "greedy", index, text, "recorded")


ANSWERS = [
    answer("m", "b:1", "It was 5 mg."),
    answer("m", "b:1", "A second answer was 7 mg.", index=1),
    answer("m", "b:2", " \n"),
    answer("n", "b:1", "It was asthma."),
    answer("m", "elsewhere:1", "It was 5 mg."),
]


def test_references_and_first_answers_are_edited_and_scored_against_the_reference():
    found = e.edits_of(ITEMS, ANSWERS)
    originals = {(x.model, x.item_id): x.text for x in found if x.kind == e.ORIGINAL}
    assert originals == {("", item.id): item.reference for item in ITEMS} | {
        ("m", "b:1"): "It was 5 mg.",
        ("n", "b:1"): "It was asthma.",
    }
    references = {item.id: item.reference for item in ITEMS}
    assert all(x.reference == references[x.item_id] and x.benchmark == "b" for x in found)
    negated = {(x.model, x.item_id): x.text for x in found if x.kind == "negation"}
    assert negated["m", "b:1"] == "It was not 5 mg."
    assert negated["", "b:1"] == "Gout number 1 is not treated with ibuprofen 1 mg."


def test_other_texts_are_the_same_models_and_benchmarks():
    found = [x for x in e.edits_of(ITEMS, ANSWERS) if x.kind == "other_answer"]
    assert {x.model for x in found} == {""}  # each model has one text
    assert {x.text for x in found} <= {item.reference for item in ITEMS}


def test_at_most_so_many_texts_and_the_same_whatever_their_order(monkeypatch):
    monkeypatch.setattr(e, "TEXTS", 2)
    texts = {("", f"i{n}"): f"text {n}" for n in range(9)}
    chosen = e.chosen(texts)
    assert len(chosen[""]) == 2
    assert chosen == e.chosen(dict(reversed(texts.items())))


def test_what_is_written_is_read(tmp_path):
    found = e.edits_of(ITEMS, ANSWERS)
    assert e.write_edits(tmp_path / "e.jsonl", found) == len(found)
    assert e.read_edits([tmp_path / "e.jsonl"]) == found


def test_another_file_is_refused(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"text": "a"}\n')
    with pytest.raises(StudyError, match=r"x\.jsonl.*line 1.*is no edit"):
        e.read_edits([tmp_path / "x.jsonl"])


def test_texts_without_an_edit_are_counted_by_source():
    counts = e.applicability(e.edits_of(ITEMS, ANSWERS)).set_index(["source", "kind"])
    assert tuple(counts.loc[("reference", "unit")]) == (3, 0)
    assert tuple(counts.loc[("recorded answer", "unit")]) == (1, 1)
    assert tuple(counts.loc[("recorded answer", "other_answer")]) == (0, 2)
    assert e.applicability([]).empty
