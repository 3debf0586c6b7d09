"""Filtering, normalising and de-duplicating mentions. Expected values follow the rules as the paper's code has them."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beyondqa.entqa.normalisation import deduplicate, entities, is_kept, normalise


@pytest.mark.parametrize(
    "mention",
    [
        "##itis",
        "the following",
        "The Patient",
        "his",
        "of the",
        "",
        "  ",
        "=",
        "'s",
        "- ( )",
        "Comes",
        "this time",
        "class.",
        "(his)",
    ],
)
def test_left_out(mention):
    assert not is_kept(mention)


@pytest.mark.parametrize(
    "mention",
    [
        "fever",
        "the fever",
        "following ranges",
        "us",
        "c.",
        "1",
        "3.5",
        "\\sigma",
        "μ ± σ",
        "白血病",
        "another",
        "several",
        "↓",
        "don't",
    ],
)
def test_kept(mention):
    assert is_kept(mention)


@pytest.mark.parametrize(
    ("mention", "entity"),
    [
        ("The Left  Lung", "left lung"),
        ("a 48 - year - old man", "48-year-old man"),
        ("3 . 5 mg / dL", "3.5 mg/dl"),
        ("the a cell", "a cell"),
        ("His HER2 status", "her2 status"),
        ("theatre", "theatre"),
        ("37.5 ° C", "37.5 ° c"),
        ("37 . 5°C", "37.5°C"),
        ("98 °F", "98 °F"),
        ("pH 7. 4", "ph 7.4"),
        ("line\nbreak", "line break"),
        ("the", "the"),
    ],
)
def test_normalise(mention, entity):
    assert normalise(mention) == entity


def test_a_part_of_another_phrase_goes():
    assert deduplicate(["pain", "chest pain", "fever", "chest pain", "ever"]) == ["chest pain", "fever"]


@given(st.lists(st.text(alphabet="ab ", min_size=1, max_size=4), max_size=5))
def test_deduplication_keeps_the_maximal_phrases_in_any_order(phrases):
    """Oracle: a phrase stays exactly if no other distinct phrase contains it."""
    expected = {p for p in phrases if not any(p != q and p in q for q in phrases)}
    for order in itertools.permutations(phrases):
        kept = deduplicate(order)
        assert set(kept) == expected
        assert kept == [p for p in dict.fromkeys(order) if p in expected]


def test_entities_in_order_of_appearance():
    assert entities(["the fever", "Chest pain", "##oma", "pain", "The following", "fever"]) == ["fever", "chest pain"]


def test_digits_and_latex_pass_without_harm():
    assert entities(["\\frac{1}{2}", "5", "} \\right", "$$"]) == ["\\frac{1}{2}", "5", "} \\right"]
