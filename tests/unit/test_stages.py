"""What each stage asks of a model."""

import dataclasses

import pytest

from beyondqa.benchmarks.base import Benchmark, CredentialedSource
from beyondqa.items import Generation, MultipleChoiceItem, OpenItem
from beyondqa.stages import greedy, likelihoods, rephrased, rephrased_again, samples
from beyondqa.stages.base import Job

SOURCE = CredentialedSource(read=iter, columns=(), licence="", access="")


def benchmark(name, kind, **changes):
    settings = {"title": name, "task": "multiple_choice", "source": SOURCE, "fields": dict, "expected_rows": {}}
    return Benchmark(name=name, kind=kind, **{**settings, **changes})


CHOICE = MultipleChoiceItem("mc:1", "mc", "Q?", ("x", "y"), (" A", " B"), 0, "Question: Q?\nAnswer:")
OPEN = OpenItem("op:1", "op", "Q?", "The reference.", "Answer this. Q?")
BENCHMARKS = {
    "mc": benchmark("mc", "multiple_choice"),
    "op": benchmark("op", "open", max_new_tokens=100, stop=("\n\n",), truncation_side="right"),
}


def job(stage, **changes):
    fields = {"model": "m", "seed": 1, "items": [CHOICE, OPEN], "benchmarks": BENCHMARKS, "settings": {}}
    return Job(stage=stage, **{**fields, **changes})


def test_likelihoods_of_options_and_references():
    asked = [
        (r.item_id, r.variant, r.index, r.prompt, r.continuation) for r in likelihoods.requests(job("likelihoods"))
    ]
    assert asked == [
        ("mc:1", "option", 0, "Question: Q?\nAnswer:", " A"),
        ("mc:1", "option", 1, "Question: Q?\nAnswer:", " B"),
        ("op:1", "reference", 0, "", "The reference."),
        ("op:1", "reference_given_prompt", 0, "Answer this. Q?", " The reference."),
    ]


def test_the_chat_template_wraps_prompts_and_leaves_the_unconditional_reference_alone():
    asked = [(r.prompt, r.continuation) for r in likelihoods.requests(job("likelihoods", chat_template=True))]
    assert asked == [
        ((("user", CHOICE.prompt),), "A"),
        ((("user", CHOICE.prompt),), "B"),
        ("", "The reference."),
        ((("user", OPEN.prompt),), "The reference."),
    ]


def test_greedy_takes_limits_and_stops_from_the_benchmark():
    (request,) = greedy.requests(job("greedy", items=[OPEN]))
    assert (request.temperature, request.max_new_tokens, request.stop) == (0.0, 100, ("\n\n",))
    assert request.truncation_side == "right"


@pytest.mark.parametrize(("cap", "limit"), [(32, 32), (1000, 100), (None, 100)])
def test_the_cap_only_lowers_a_limit(cap, limit):
    (request,) = greedy.requests(job("greedy", items=[OPEN], max_new_tokens=cap))
    assert request.max_new_tokens == limit


def test_samples_have_a_seed_each_whatever_else_is_asked():
    settings = {"count": 11, "temperature": 1.0, "top_p": 0.9}
    alone = samples.requests(job("samples", items=[OPEN], settings=settings))
    assert [r.index for r in alone] == list(range(11))
    assert len({r.seed for r in alone}) == 11
    other = OpenItem("op:0", "op", "Other?", "R.", "Other?")
    beside = samples.requests(job("samples", items=[other, OPEN], settings=settings))
    assert [r.seed for r in beside if r.item_id == "op:1"] == [r.seed for r in alone]
    assert {r.seed for r in samples.requests(job("samples", items=[OPEN], settings=settings, seed=2))}.isdisjoint(
        r.seed for r in alone
    )


def answer(model, text):
    return Generation("op:1", "op", model, "greedy", 0, text, "stop")


def test_rephrasings_are_asked_of_every_answer_that_is_not_blank():
    settings = {"count": 2, "temperature": 1.0, "top_p": 0.9, "rephraser": "m"}
    answers = [answer("a", "An answer."), answer("b", " \n"), answer("c", "An answer.")]
    requests = rephrased.requests(
        job("rephrased", items=[OPEN], settings=settings, answers=answers, prompts={"rephrase_answer": "Reword."})
    )
    assert [(r.model, r.index) for r in requests] == [("a", 0), ("a", 1), ("c", 0), ("c", 1)]
    assert requests[0].prompt == (("system", "Reword."), ("user", "An answer."))
    assert len({r.seed for r in requests}) == 4
    assert requests[0].max_new_tokens == 150


def test_a_second_rephraser_is_asked_the_same_with_seeds_of_its_own():
    settings = {"count": 2, "temperature": 1.0, "top_p": 0.9, "rephraser": "m"}
    given = {"items": [OPEN], "settings": settings, "answers": [answer("a", "An answer.")]}
    prompts = {"rephrase_answer": "Reword."}
    first, second = (
        stage.requests(job(name, prompts=prompts, **given))
        for name, stage in (("rephrased", rephrased), ("rephrased_again", rephrased_again))
    )
    assert [dataclasses.replace(r, seed=0) for r in first] == [dataclasses.replace(r, seed=0) for r in second]
    assert not {r.seed for r in first} & {r.seed for r in second}


def test_answers_to_other_benchmarks_are_not_rephrased():
    stranger = Generation("zz:1", "zz", "a", "greedy", 0, "text", "stop")
    settings = {"count": 2, "temperature": 1.0, "top_p": 0.9}
    assert (
        rephrased.requests(
            job("rephrased", items=[OPEN], settings=settings, answers=[stranger], prompts={"rephrase_answer": ""})
        )
        == []
    )
