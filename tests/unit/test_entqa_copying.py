"""Copied share: counted by hand, and its bounds."""

from hypothesis import given
from hypothesis import strategies as st

from beyondqa.entqa.copying import copied_share

STEM = "A 40-year-old man has had chest pain for two hours and sweats."
TEXT = st.lists(st.sampled_from("abc"), max_size=30).map(" ".join)


def test_a_copy_is_all_copied():
    assert copied_share(STEM, STEM) == 1.0
    assert copied_share(STEM.upper().replace(".", "!"), STEM) == 1.0


def test_a_run_of_eight_words_counts_and_one_of_seven_does_not():
    assert copied_share("He has had chest pain for two hours and coughs", STEM) == 8 / 10
    assert copied_share("He has had chest pain for two hours, then", STEM) == 0.0


def test_no_words():
    assert copied_share("", STEM) is None
    assert copied_share("a b c", "") == 0.0


@given(TEXT, TEXT)
def test_bounds_and_monotony(text, source):
    share = copied_share(text, source)
    if share is not None:
        assert 0.0 <= share <= 1.0
        assert share <= copied_share(text, f"{source} {source}")
        assert share <= copied_share(text, source, run=3)
