"""Which names of the dictionaries are drugs, diseases or symptoms: MeSH and DrugBank say so, the test by hand."""

import pytest

from beyondqa.sensitivity.entities import entities

CASES = {
    "Metformin treats diabetes insipidus.": [("Metformin", "drug"), ("diabetes insipidus", "disease")],
    "Nausea after ibuprofen, no asthma.": [("Nausea", "symptom"), ("ibuprofen", "drug"), ("asthma", "disease")],
    # Classes, body substances, and everyday words that MeSH has a heading for.
    "Antibiotics for infections change lifestyle and goals.": [],
    "Uric acid and serotonin aids the injury.": [],
    # The longest name hides those in it, whether it counts or not.
    "Chronic bronchitis and yellow fever": [("Chronic bronchitis", "disease"), ("yellow fever", "disease")],
}


@pytest.mark.parametrize(("text", "expected"), CASES.items())
def test_names_that_count(text, expected):
    (found,) = entities({"a": text}).values()
    assert [(e.text, e.type) for e in found] == expected
    assert all(text[e.start : e.end] == e.text for e in found)


def test_other_names_of_the_same_are_the_same():
    (found,) = entities({"a": "Advil, ibuprofen, hypertension, high blood pressure, gout"}).values()
    advil, ibuprofen, hypertension, pressure, gout = found
    assert advil.same_as(ibuprofen)
    assert hypertension.same_as(pressure)
    assert not gout.same_as(hypertension)
