"""Reading answers: the letter and the explanation, strictly."""

import pytest

from beyondqa.entqa.answers import read

OPTIONS = ("Metformin", "Lisinopril", "Aspirin", "Heparin")


@pytest.mark.parametrize(
    ("text", "letter", "explanation"),
    [
        ("The correct answer is [B]. Explanation: It is viral.", "B", "It is viral."),
        ("The correct answer is B.\n\nExplanation:\nIt is\nviral.", "B", "It is viral."),
        ("**The correct answer is (C)**\n\n**Explanation:** It is *viral*.", "C", "It is viral."),
        ("### Answer\nThe correct answer is: D\n### Explanation: yes", "D", "yes"),
        ("The correct answer is B\nIt is known. Explanation: no", "B", "no"),
        ("B\nExplanation: x", "B", "x"),
        ("The correct answer is A because it is. Explanation: x", "A", "x"),
        ("Explanation: It fits. So, the correct answer is [B].", "B", "It fits. So, the correct answer is [B]."),
        ("The correct answer is C. Explanation: Not B. Explanation: again", "C", "Not B. Explanation: again"),
        ("<think>The correct answer is A.</think>The correct answer is B. Explanation: t_{1} * 2", "B", "t_{1} * 2"),
        ("The correct answer is B. Explanation: x. The correct answer is C.", "B", "x. The correct answer is C."),
        (
            "**The correct answer is B.**\nExplanation:\n- A: no\n  * **B**: yes-no - 2\n1. x",
            "B",
            "A: no B: yes-no - 2 1. x",
        ),
        ("The correct answer is B. **Explanation**: * a\n* b\n* c\n##d", "B", "a b c d"),
    ],
)
def test_read(text, letter, explanation):
    answer = read(text, OPTIONS)
    assert (answer.letter, answer.explanation, answer.problem) == (letter, explanation, "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("It is B. Explanation: x", "no option is stated as the answer"),
        ("The correct answer is a beta blocker. Explanation: x", "no option is stated as the answer"),
        ("The correct answer is A drug. Explanation: x", "no option is stated as the answer"),
        ("The correct answer is Bacteria. Explanation: x", "no option is stated as the answer"),
        ("The correct answer is E. Explanation: x", "the letter is none of the options"),
        (
            "The correct answer is A. The correct answer is B. Explanation: x",
            "several options are stated as the answer",
        ),
        ("<think>The correct answer is A. Explanation: x", "the answer is empty; no explanation"),
        ("The correct answer is A.", "no explanation"),
        ("The correct answer is A. Explanation: ", "the explanation is empty"),
        ("", "the answer is empty; no explanation"),
    ],
)
def test_unparsed(text, problem):
    assert read(text, OPTIONS).problem == problem


def test_a_long_answer_is_read_fast():
    text = "correct answer is " * 2000 + "*" * 20000 + "<think>" * 2000
    assert read(text, OPTIONS).letter is None
