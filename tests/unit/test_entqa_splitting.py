"""The two cuts of a stem. Expected cuts were made by hand from the definitions in the functions' docstrings."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beyondqa.entqa.splitting import split_as_coded, split_as_published

DECIMAL = "His level is 2.0 ng/mL, which of the following is the cause?"


@pytest.mark.parametrize(
    ("stem", "background", "question"),
    [
        ("A man coughs. He is 40. What is it?", "A man coughs. He is 40.", "What is it?"),
        ("What is it?", "", "What is it?"),
        (DECIMAL, "His level is 2.", "0 ng/mL, which of the following is the cause?"),
        ('He asks, "Will I die?" What is best?', 'He asks, "Will I die?', '" What is best?'),
        ("Why? What is it? He is tired.", "Why? He is tired.", "What is it?"),
        ("He is ill. What is it??", "He is ill.", "What is it??"),
        ("A man coughs. The most likely cause is:", "A man coughs.", "The most likely cause is:"),
    ],
)
def test_as_coded(stem, background, question):
    split = split_as_coded(stem)
    assert (split.background, split.question) == (background, question)


@given(st.text(alphabet="ab .?!\n\"'", min_size=1))
def test_as_coded_is_the_last_match_of_the_pattern(stem):
    """Oracle: the regular expression that the definition describes, applied as it stands."""
    matches = re.findall(r"[^.?!]*\?+", stem)
    if matches:
        assert split_as_coded(stem).question == matches[-1].strip()


@pytest.mark.parametrize(
    ("stem", "background", "question"),
    [
        (f"A man is tired. {DECIMAL}", "A man is tired.", DECIMAL),
        ('He asks, "Will I die?" What is best?', 'He asks, "Will I die?"', "What is best?"),
        ("He says, “Why me?” Which reply is best?", "He says, “Why me?”", "Which reply is best?"),
        ("Dr. Lee treats a man vs. a woman. Who is ill?", "Dr. Lee treats a man vs. a woman.", "Who is ill?"),
        ('His sodium is low. What is the cause?"', 'His sodium is low. "', "What is the cause?"),
        ("Sodium 130 mEq/L\nPotassium 3.1\nWhat is it?", "Sodium 130 mEq/L\nPotassium 3.1", "What is it?"),
        (
            "Cortisol 43 Urine 340 (N=3.5–45) The cause is which one?",
            "Cortisol 43 Urine 340 (N=3.5–45)",
            "The cause is which one?",
        ),
        (
            "The (CD4 2) T cell acts on which organ (1 word) Answer?",
            "",
            "The (CD4 2) T cell acts on which organ (1 word) Answer?",
        ),
        ("A man coughs. The most likely cause is:", "A man coughs.", "The most likely cause is:"),
        ("What is it?", "", "What is it?"),
    ],
)
def test_as_published(stem, background, question):
    split = split_as_published(stem)
    assert (split.background, split.question) == (background, question)


@pytest.mark.parametrize("split", [split_as_coded, split_as_published])
@given(stem=st.text(min_size=1).filter(str.strip))
def test_no_word_is_lost(split, stem):
    parts = split(stem)
    assert sorted("".join((parts.background + parts.question).split())) == sorted("".join(stem.split()))
    assert parts.question.strip()
