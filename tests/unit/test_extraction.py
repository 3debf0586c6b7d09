"""The option that an answer states: strict, with a reason where none is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beyondqa import extraction
from beyondqa.extraction import chosen_option
from beyondqa.items import Generation, MultipleChoiceItem, OpenItem
from beyondqa.metrics.generated_accuracy import scores

OPTIONS = ["Aspirin", "E. coli", "increased preload", "none", "S. aureus"]


@pytest.mark.parametrize(
    ("answer", "letter"),
    [
        ("B", "B"),
        ("(C)", "C"),
        ("**B**", "B"),
        (" B.\n", "B"),
        ("B) E. coli", "B"),
        ("aspirin.", "A"),
        ("E. coli", "B"),
        ("The answer is E. coli.", "B"),
        ("The correct answer is [C].\nExplanation: A is wrong, B is worse.", "C"),
        ("Step by step ... the final answer is: option D", "D"),
        ("Answer: A", "A"),
        ("The answer is A because pain improves.", "A"),
        ("Answer: C - increased preload", "C"),
        ('{"step_by_step_thinking": "A is tempting.", "answer_choice": "C. increased preload"}', "C"),
        ("<think>The answer is B?</think>Answer: C", "C"),
        ("reasoning without its first mark, answer: B</think>Answer: C", "C"),
        ("So $\\boxed{\\text{(D)}}$.", "D"),
        ("The answer is C. To repeat, the answer is C.", "C"),
    ],
)
def test_a_stated_letter_is_read(answer, letter):
    assert chosen_option(answer, OPTIONS).letter == letter


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", extraction.EMPTY),
        (" ** ", extraction.EMPTY),
        ("<think>The answer is B", extraction.THINKING),
        ("A 45-year-old man needs aspirin.", extraction.NO_STATEMENT),
        ("I would choose between A, B and C.", extraction.NO_STATEMENT),
        ("The answer is not A.", extraction.NO_STATEMENT),
        ("Answer: A patient like this needs rest.", extraction.NO_STATEMENT),
        ("Answer: C difficile", extraction.NO_STATEMENT),
        ("Answer: Depends", extraction.NO_STATEMENT),
        ('{"answer_choice": "None of the above"}', extraction.NO_STATEMENT),
        ('{"answer_choice": "N/A"}', extraction.NO_STATEMENT),
        ("The answer is B. On reflection, the answer is C.", extraction.SEVERAL),
        ("Answer: A, C", extraction.SEVERAL),
        ('"answer_choice": "A/B"', extraction.SEVERAL),
        ("\\boxed{A} or \\boxed{B}", extraction.SEVERAL),
        ("The answer is F.", extraction.NO_OPTION),
        ("Z", extraction.NO_OPTION),
    ],
)
def test_what_is_not_stated_is_unparsed_with_a_reason(answer, reason):
    assert chosen_option(answer, OPTIONS) == extraction.Choice(None, reason)


def test_two_options_of_one_text_are_not_told_apart_by_it():
    assert chosen_option("Aspirin", ["Aspirin", "aspirin"]).letter is None
    assert chosen_option("B", ["Aspirin", "aspirin"]).letter == "B"


@given(st.text(), st.integers(2, 8))
def test_any_text_gives_an_option_or_a_reason(text, count):
    choice = chosen_option(text, [f"option {n}" for n in range(count)])
    assert (choice.letter is None) == bool(choice.reason)
    assert choice.letter is None or choice.letter in "ABCDEFGH"[:count]


def test_generated_accuracy_counts_the_unparsed_as_wrong():
    items = {
        "c:1": MultipleChoiceItem("c:1", "c", "q", ("x", "y"), (" A", " B"), 1, "q"),
        "o:1": OpenItem("o:1", "o", "q", "reference", "q"),
    }
    answers = [
        Generation("c:1", "c", "m", "greedy", 0, "Answer: B", "stop"),
        Generation("c:1", "c", "m", "sample", 0, "B or A, who knows", "length"),
        Generation("c:1", "c", "m", "sample", 1, "", "stop"),
        Generation("c:1", "c", "m", "sample", 2, "Answer: A", "stop"),
        Generation("o:1", "o", "m", "greedy", 0, "Answer: B", "stop"),
    ]
    found = {(s.variant, s.index): (s.value, s.flags, s.reason) for s in scores(items, answers, {})}
    assert found == {
        ("greedy", 0): (1.0, (), ""),
        ("sample", 0): (0.0, ("unparsed", "cut"), extraction.NO_STATEMENT),
        ("sample", 1): (0.0, ("empty", "unparsed"), extraction.EMPTY),
        ("sample", 2): (0.0, (), ""),
    }
