"""Every edit on texts whose edited form is written out by hand."""

import pytest

from beyondqa.sensitivity import corruptions as c

CASES = [
    (c.negation, "The rash is red and was itchy.", "The rash is not red and was itchy."),
    (c.negation, "It isn't serious.", "It is serious."),
    (c.negation, "Do not drive.", "Do drive."),
    (c.negation, "You cannot take it.", "You can take it."),
    (c.negation, "We can’t tell.", "We can tell."),
    (c.negation, "Since May it has grown.", "Since May it has not grown."),
    (c.negation, "Fever, cough.", None),
    (c.tenfold, "Take 5 mg, then 10 mg.", "Take 50 mg, then 10 mg."),
    (c.tenfold, "Take 0.5mg.", "Take 5mg."),
    (c.tenfold, "Give 1,500 mL.", "Give 15,000 mL."),
    (c.tenfold, "Chapter 3. Wait 30 minutes.", "Chapter 3. Wait 300 minutes."),
    (c.tenfold, "Chapter 3.", None),
    (c.unit_spelled_out, "Take 5 mg daily.", "Take 5 milligrams daily."),
    (c.unit_spelled_out, "Take 1mg daily.", "Take 1 milligram daily."),
    (c.unit_spelled_out, "At 20%.", "At 20 percent."),
    (c.unit_spelled_out, "Wait 30 minutes.", None),
    (c.antonym, "Acute pain on the left.", "Chronic pain on the left."),
    (c.antonym, "It decreased, not increased.", "It increased, not increased."),
    (c.antonym, "Leftover pain.", None),
    (c.synonym, "BP was taken by a doctor.", "blood pressure was taken by a doctor."),
    (c.synonym, "Ask the Doctor; bp fine.", "Ask the Physician; bp fine."),
    (c.synonym, "Nothing here.", None),
]


@pytest.mark.parametrize(("edit", "text", "expected"), CASES)
def test_one_edit(edit, text, expected):
    assert edit(text) == expected


def test_an_entity_becomes_one_of_its_type_from_another_item():
    entities = {
        "a": [c.Entity("aspirin", 4, 11, "drug")],
        "b": [c.Entity("ibuprofen", 0, 9, "drug"), c.Entity("asthma", 14, 20, "disease")],
        "d": [c.Entity("Aspirin", 0, 7, "drug")],
        "e": [c.Entity("gout", 0, 4, "disease")],
    }
    assert c.entity_replaced("a", "Use aspirin now.", entities) == "Use ibuprofen now."
    assert c.entity_replaced("e", "gout hurts", entities) == "asthma hurts"
    assert c.entity_replaced("e", "gout hurts", {"e": entities["e"], "a": entities["a"]}) is None


def test_the_dictionary_tells_drugs_from_diseases():
    (found,) = c.entities({"a": "Metformin treats diabetes mellitus."}).values()
    assert [(e.text, e.type) for e in found] == [("Metformin", "drug"), ("diabetes mellitus", "disease")]


def test_sentences_are_dropped_in_nested_shares():
    text = "A one. B two. C three. D four. E five. F six. G seven. H eight."
    left = {share: c.sentences_dropped("x", text, share) for share in c.GRADED.values()}
    sets = {share: kept.split(". ") for share, kept in left.items()}
    assert [len(s) for s in sets.values()] == [6, 4, 2]
    names = {share: {s[0] for s in kept} for share, kept in sets.items()}
    assert names[0.75] < names[0.5] < names[0.25]
    assert c.sentences_dropped("x", "Only one.", 0.5) is None
    assert c.sentences_dropped("x", "One. Two.", 0.25) is None


def test_the_control_is_another_text_and_draws_do_not_depend_on_order():
    texts = {f"i{n}": f"text {n}" for n in range(9)} | {"same": "text 0"}
    drawn = {item: c.other_answer(item, texts) for item in texts}
    assert all(drawn[item] != texts[item] and drawn[item] in texts.values() for item in texts)
    assert drawn == {item: c.other_answer(item, dict(reversed(texts.items()))) for item in texts}
    assert c.other_answer("a", {"a": "x", "b": "x"}) is None


def test_items_without_an_edit_are_absent():
    found = c.corrupted({"a": "Fever.", "b": "It is 5 mg."}, {"a": [], "b": []})
    assert set(found) == set(c.KINDS)
    assert found["negation"] == {"b": "It is not 5 mg."}
    assert found["number"] == {"b": "It is 50 mg."}
    assert found["entity"] == {}
    assert found["other_answer"] == {"a": "It is 5 mg.", "b": "Fever."}
