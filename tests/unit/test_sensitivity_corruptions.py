"""Every edit on texts whose edited form is written out by hand."""

from collections import Counter

import pytest

from beyondqa.sensitivity import corruptions as c
from beyondqa.sensitivity.entities import Entity

CASES = [
    (c.negation, "The rash is red and was itchy.", "The rash is not red and was itchy."),
    (c.negation, "It isn't serious.", "It is serious."),
    (c.negation, "Do not drive.", "Do drive."),
    (c.negation, "She does not smoke.", "She does smoke."),
    (c.negation, "You cannot take it.", "You can take it."),
    (c.negation, "We can’t tell.", "We can tell."),
    (c.negation, "He has been coughing.", "He has not been coughing."),
    (c.negation, "She has recently started it.", "She has not recently started it."),
    (c.negation, "She had hay fever and was treated.", "She had hay fever and was not treated."),
    (c.negation, "He may rest. It should help.", "He may rest. It should not help."),
    (c.negation, "Is it gout? It is gout.", "Is it gout? It is not gout."),
    (c.negation, "He is a pleasant 33-year-old. He was treated.", "He is a pleasant 33-year-old. He was not treated."),
    (c.negation, "She is a healthy young woman who is ill.", "She is a healthy young woman who is not ill."),
    (c.negation, "There is no fever. The lung is clear.", "There is no fever. The lung is not clear."),
    (c.negation, "He is a nonsmoker, and his cough is dry.", "He is a nonsmoker, and his cough is not dry."),
    (c.negation, "Tell me what it is. It was small.", "Tell me what it is. It was not small."),
    (c.negation, "Will was seen.", "Will was not seen."),
    (c.negation, "Fever, cough.", None),
    (c.tenfold, "Take 5 mg, then 10 mg.", "Take 50 mg, then 10 mg."),
    (c.tenfold, "Take 0.5mg.", "Take 5mg."),
    (c.tenfold, "Give 1,500 mL.", "Give 15,000 mL."),
    (c.tenfold, "Chapter 3. Wait 30 minutes.", "Chapter 3. Wait 300 minutes."),
    (c.tenfold, "A 33-year-old man took 5 mg.", "A 33-year-old man took 50 mg."),
    (c.tenfold, "At 40 years of age, 6 days ill.", "At 40 years of age, 60 days ill."),
    (c.tenfold, "Saturation 98%, glucose up 5%.", "Saturation 98%, glucose up 50%."),
    (c.tenfold, "For 10 years, on 2 units.", "For 10 years, on 20 units."),
    (c.tenfold, "At 32 weeks, 68 beats per minute, 7 mL.", "At 32 weeks, 68 beats per minute, 70 mL."),
    (c.tenfold, "Chapter 3.", None),
    (c.unit_spelled_out, "Take 5 mg daily.", "Take 5 milligrams daily."),
    (c.unit_spelled_out, "Take 1mg daily.", "Take 1 milligram daily."),
    (c.unit_spelled_out, "At 20%.", "At 20 percent."),
    (c.unit_spelled_out, "Wait 30 minutes.", None),
    (c.antonym, "Acute pain in the left knee.", "Chronic pain in the left knee."),
    (c.antonym, "No acute distress. Left knee swollen.", "No acute distress. Right knee swollen."),
    (c.antonym, "If left untreated, it worsens.", "If left untreated, it improves."),
    (c.antonym, "HISTORY OF PRESENT ILLNESS: she denies pain.", "HISTORY OF PRESENT ILLNESS: she reports pain."),
    (c.antonym, "Mild to severe pain, stable vitals.", "Mild to severe pain, unstable vitals."),
    (c.antonym, "Before and after surgery it is safe.", "Before and after surgery it is unsafe."),
    (c.antonym, "Low back pain with nausea.", None),
    (c.antonym, "Leftover pain.", None),
    (c.synonym, "BP was taken by a doctor.", "blood pressure was taken by a doctor."),
    (c.synonym, "Ask the Doctor; bp fine.", "Ask the Physician; bp fine."),
    (c.synonym, "Yellow fever causes fever.", "Yellow fever causes pyrexia."),
    (c.synonym, "Computed tomography (CT) often helps.", "Computed tomography (CT) frequently helps."),
    (c.synonym, "Nothing here.", None),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "text", "expected"), CASES)
def test_one_edit(edit, text, expected):
    assert edit(text) == expected


def test_no_term_of_a_list_stands_twice_and_exceptions_hold_their_term():
    antonyms = [word for row in c.rows("antonyms") for word in (row["word"], row["antonym"])]
    synonyms = [row["term"] for row in c.rows("synonyms")]
    for terms in (antonyms, synonyms):
        assert [term for term, count in Counter(terms).items() if count > 1] == []
    for name, columns in (("antonyms", ("word", "antonym")), ("synonyms", ("term",))):
        for row in c.rows(name):
            for phrase in filter(None, row["except"].split(";")):
                assert any(row[column].lower() in phrase for column in columns), phrase


def entity(text, start, what, name="", trees=()):
    return Entity(text, start, start + len(text), what, name or text.lower(), trees)


def test_an_entity_becomes_one_of_its_type_from_another_item():
    entities = {
        "a": [entity("aspirin", 4, "drug")],
        "b": [entity("ibuprofen", 0, "drug"), entity("asthma", 14, "disease")],
        "d": [entity("Aspirin", 0, "drug"), entity("ASA", 9, "drug", "aspirin")],
        "e": [entity("gout", 0, "disease")],
    }
    assert c.entity_replaced("a", "Use aspirin now.", entities) == "Use ibuprofen now."
    assert c.entity_replaced("e", "gout hurts", entities) == "asthma hurts"
    assert c.entity_replaced("e", "gout hurts", {"e": entities["e"], "a": entities["a"]}) is None


def test_a_wider_or_narrower_term_takes_no_place_and_case_follows_the_old_name():
    pneumonia = entity("Pneumonia", 0, "disease", trees=("C08.730.610",))
    wider = entity("respiratory infection", 0, "disease", trees=("C08.730",))
    other = entity("gout", 0, "disease", trees=("C05.550.354",))
    assert c.entity_replaced("a", "Pneumonia.", {"a": [pneumonia], "b": [wider]}) is None
    assert c.entity_replaced("a", "Pneumonia.", {"a": [pneumonia], "b": [wider, other]}) == "Gout."


def test_sentences_are_dropped_in_nested_shares_and_the_others_stay_as_they_are():
    text = "A one. B two.\n\nC three. D four.  E five. F six. G seven. H eight."
    left = {share: c.sentences_dropped("x", text, share) for share in c.GRADED.values()}
    names = {share: {piece.strip()[0] for piece in kept.split(".") if piece.strip()} for share, kept in left.items()}
    assert [len(letters) for letters in names.values()] == [6, 4, 2]
    assert names[0.75] < names[0.5] < names[0.25]
    pieces = ["A one. ", "B two.\n\n", "C three. ", "D four.  ", "E five. ", "F six. ", "G seven. ", "H eight."]
    for share, kept in left.items():
        assert kept == "".join(piece for piece in pieces if piece[0] in names[share]).rstrip()
    assert c.sentences_dropped("x", "Only one.", 0.5) is None
    assert c.sentences_dropped("x", "One. Two.", 0.25) is None


def test_a_title_or_the_number_of_a_list_is_no_sentence():
    text = "1. Dr. Brown saw her. 2. She left."
    assert {c.sentences_dropped(item, text, 0.5) for item in "abcdefgh"} == {"1. Dr. Brown saw her.", "2. She left."}


def test_the_control_is_another_text_and_draws_do_not_depend_on_order():
    texts = {f"i{n}": f"text {n}" for n in range(9)} | {"same": "text 0"}
    drawn = {item: c.other_answer(item, texts) for item in texts}
    assert all(drawn[item] != texts[item] and drawn[item] in texts.values() for item in texts)
    assert drawn == {item: c.other_answer(item, dict(reversed(texts.items()))) for item in texts}
    assert c.other_answer("a", {"a": "x", "b": "x"}) is None


def test_items_without_an_edit_are_absent():
    found = c.corrupted({"a": "Fever.", "b": "It was 5 mg."}, {"a": [], "b": []})
    assert set(found) == set(c.KINDS)
    assert found["negation"] == {"b": "It was not 5 mg."}
    assert found["number"] == {"b": "It was 50 mg."}
    assert found["synonym"] == {"a": "Pyrexia."}
    assert found["entity"] == {}
    assert found["other_answer"] == {"a": "It was 5 mg.", "b": "Fever."}
