"""Judgements are asked of every answer that is not blank, and again, a bounded number of times, where unread."""

from beyondqa.benchmarks.base import Benchmark, CredentialedSource
from beyondqa.items import Generation, OpenItem
from beyondqa.stages import judged
from beyondqa.stages.base import Job

SOURCE = CredentialedSource(read=iter, columns=(), licence="", access="")
BENCHMARK = Benchmark("op", "op", "open_questions", "open", SOURCE, dict, {})
ITEMS = [OpenItem(f"op:{n}", "op", f"Q{n}?", "The reference.", "Answer this.") for n in range(2)]
PROMPTS = {
    "judge_system": "Judge.",
    "judge_rubric": "1 to 5.",
    "judge_absolute": "{instruction}|{response}|{reference}|{rubric}",
}


def answer(item, model, text):
    return Generation(item, "op", model, "greedy", 0, text, "stop")


def job(answers):
    settings = {"attempts": 3, "temperature": 0, "top_p": 0.9, "max_new_tokens": 50}
    return Job("judged", "judge", 1, ITEMS, {"op": BENCHMARK}, settings, answers=answers, prompts=PROMPTS)


ANSWERS = [answer("op:0", "a", "An answer."), answer("op:0", "b", "  "), answer("op:1", "a", "Another.")]


def judgements(requests, texts):
    return [
        Generation(r.item_id, r.benchmark, r.model, r.variant, r.index, text, "stop")
        for r, text in zip(requests, texts, strict=True)
    ]


def test_the_first_attempt_is_greedy_and_about_every_answer_that_is_not_blank():
    first = judged.requests(job(ANSWERS))
    assert [(r.item_id, r.model, r.variant, r.temperature) for r in first] == [
        ("op:0", "a", "judgement/greedy/0", 0),
        ("op:1", "a", "judgement/greedy/0", 0),
    ]
    assert first[0].prompt == (("system", "Judge."), ("user", "Q0?|An answer.|The reference.|1 to 5."))


def test_unread_judgements_are_asked_again_within_the_bound():
    this = job(ANSWERS)
    first = judged.requests(this)
    known = judgements(first, ["Fine. [RESULT] 4", "no score"])
    second = judged.follow_up(this, known)
    assert [(r.item_id, r.variant, r.temperature) for r in second] == [("op:1", "judgement/greedy/1", 1.0)]
    known += judgements(second, ["still none"])
    third = judged.follow_up(this, known)
    assert [r.variant for r in third] == ["judgement/greedy/2"]
    assert second[0].seed != third[0].seed
    known += judgements(third, ["none"])
    assert judged.follow_up(this, known) == []


def test_another_shards_answers_are_not_followed_up():
    assert judged.follow_up(job(ANSWERS), []) == []
