"""Same wording or not: pairs judged by hand, most of them seen in examination items."""

import pytest

from beyondqa.normalisation import comparable, holds


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Measles.", "measles"),
        ("What is it ?:", "What is it?"),
        ("9:7.", "9: 7"),
        ("RR= 1", "RR = 1."),
        ("Adrenergic, serotonergic", "adrenergic serotonergic"),
        ("5’-3’", "5'-3'"),
        ("e\u0301tude", "étude"),
        ("  a\u2028b ", "a b"),
    ],
)
def test_same_wording(a, b):
    assert comparable(a) == comparable(b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("+2", "-2"),
        ("2", "-2"),
        ("CN+", "CN"),
        ("1.5", "15"),
        ("10²", "102"),
        ("RR > 1", "RR < 1"),
        ("C - 2", "C + 2"),
        ("5'-3'", "5-3"),
        ("(0.63 x 3) ½", "0.63 x 3 ½"),
        ("µg", "mg"),
    ],
)
def test_other_wording(a, b):
    assert comparable(a) != comparable(b)


def test_holds_whole_tokens():
    assert holds("It is the Insulin receptor.", "insulin")
    assert not holds("It is the insulinoma.", "insulin")
    assert not holds("anything", "...")
