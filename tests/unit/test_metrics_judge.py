"""The judge: what it is asked, how its grade is read, and what becomes of a judgement that cannot be read."""

import pytest

from beyondqa.errors import StudyError
from beyondqa.items import Generation, OpenItem
from beyondqa.metrics import judge

ITEM = OpenItem("b:1", "b", "Why {reference}?", "Because of the virus.", "p")
SETTINGS = {"judge": "prometheus-7b-v2.0"}


@pytest.fixture(scope="module")
def prompts(root):
    return {name: (root / f"resources/prompts/{name}.txt").read_text(encoding="utf-8") for name in judge.PROMPTS}


def test_every_field_is_filled_and_braces_of_texts_stay(prompts):
    (system, _), (user, content) = judge.messages(ITEM, "An answer with {rubric} and {braces}.", prompts)
    assert (system, user) == ("system", "user")
    assert "An answer with {rubric} and {braces}." in content
    assert "Why {reference}?" in content
    assert "Because of the virus." in content
    assert prompts["judge_rubric"].strip() in content
    assert content.count("{rubric}") == 1
    assert "{instruction}" not in content
    assert "{response}" not in content


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Good. [RESULT] 3", 3),
        ("Good. [RESULT] 3.", 3),
        ("Good. **[RESULT] 4**", 4),
        ("Good. [RESULT]5</s>", 5),
        ("Good. [RESULT] 2\n\nNote: the answer is short.", 2),
        ("Good. [result] (4)", 4),
        ("Good. [RESULT] 4/5", 4),
        ("Good. [RESULT] 4 out of 5", 4),
        ("At first [RESULT] 2, but on reflection [RESULT] 1", 1),
        ("", None),
        ("The score is 4.", None),
        ("[RESULT]", None),
        ("[RESULT] (an integer number between 1 and 5)", None),
        ("[RESULT] 0", None),
        ("[RESULT] 6", None),
        ("[RESULT] 10", None),
        ("[RESULT] 45", None),
        ("[RESULT] 3.5", None),
        ("[RESULT] 3,5", None),
        ("[RESULT] 4-5", None),
        ("[RESULT] 4 or 5", None),
        ("[RESULT] 4/10", None),
        ("[RESULT] 4 out of 10", None),
        ("[RESULT] 5%", None),
        ("[RESULT] -1", None),
        ("[RESULT] five", None),
    ],
)
def test_the_grade_is_read_strictly(text, expected):
    assert judge.parse(text) == expected


def answer(text, variant="greedy", index=0):
    return Generation("b:1", "b", "m", variant, index, text, "stop")


def scored(*records):
    return {(s.variant, s.index): s for s in judge.scores({"b:1": ITEM}, records, SETTINGS)}


def test_each_answer_gets_its_own_judgement():
    greedy, sample = answer("virus"), answer("bacteria", "sample", 3)
    found = scored(
        greedy,
        sample,
        answer("fine [RESULT] 5", judge.variant(greedy, 0)),
        answer("wrong [RESULT] 1", judge.variant(sample, 0), 3),
    )
    assert {key: score.value for key, score in found.items()} == {("greedy", 0): 5.0, ("sample", 3): 1.0}
    assert found["greedy", 0].metric == "judge[prometheus-7b-v2.0,T=0]"
    assert found["greedy", 0].flags == ()


def test_the_first_readable_attempt_counts_and_is_flagged():
    greedy = answer("virus")
    found = scored(
        greedy,
        answer("fine [RESULT] 2", judge.variant(greedy, 2)),
        answer("no grade", judge.variant(greedy, 0)),
        answer("fine [RESULT] 4", judge.variant(greedy, 1)),
    )["greedy", 0]
    assert (found.value, found.flags) == (4.0, ("retried",))


def test_unreadable_judgements_are_null_and_counted():
    greedy = answer("virus")
    found = scored(greedy, *(answer("no grade", judge.variant(greedy, attempt)) for attempt in range(3)))["greedy", 0]
    assert (found.value, found.flags, found.reason) == (None, ("invalid",), "no score in 3 judgements")


def test_blank_answers_get_the_lowest_grade_unasked():
    found = scored(answer(" \n"))["greedy", 0]
    assert (found.value, found.flags) == (1.0, ("empty",))
    (metric,) = judge.metrics(SETTINGS)
    assert metric.floor == metric.minimum == 1


def test_an_answer_without_judgement_is_refused():
    with pytest.raises(StudyError, match=r"b:1.*no judgement of m's answer \(greedy 0\)"):
        scored(answer("virus"))
