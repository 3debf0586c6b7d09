"""Asking a model again where its reply failed, a bounded number of times."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from ..engines.base import GenerationRequest
from ..identity import derived_seed
from ..items import Generation
from .decisions import Reply

Answer = Callable[[list[GenerationRequest]], list[Generation]]
BENCHMARK = "careqa_open_rebuilt"
MAX_NEW_TOKENS = 1024  # room for a model that thinks before it replies


@dataclasses.dataclass(frozen=True, slots=True)
class Question:
    """One thing to ask the model: a prompt's name and text, and how to read the reply.

    `read` gives (outcome, open-ended question or "").
    """

    item_id: str
    prompt: str
    text: str
    read: Callable[[Generation], tuple[str, str]]


@dataclasses.dataclass(frozen=True, slots=True)
class Asking:
    """How often and how long a model may reply; the seed is the study's."""

    attempts: int
    seed: int
    max_new_tokens: int = MAX_NEW_TOKENS


def token_limit(cap: int | None) -> int:
    """Tokens that a reply may have: MAX_NEW_TOKENS, or fewer where the study caps its answers."""
    return MAX_NEW_TOKENS if cap is None else min(MAX_NEW_TOKENS, cap)


def ask(questions: Sequence[Question], answer: Answer, how: Asking) -> list[tuple[list[Reply], str]]:
    """For each question its replies, the last one decisive, and the open-ended question read from it ("" if none).

    The first attempt is greedy; the others sample at temperature 0.7, top_p 0.9, with a seed derived from
    (study seed, item, prompt, attempt), so that no other question moves a draw.
    """
    replies: list[list[Reply]] = [[] for _ in questions]
    texts = [""] * len(questions)
    open_ones = list(range(len(questions)))
    for attempt in range(how.attempts):
        requests = [_request(questions[i], attempt, how) for i in open_ones]
        answers = {(a.item_id, a.variant, a.index): a for a in answer(requests)} if requests else {}
        for i, request in zip(open_ones, requests, strict=True):
            generation = answers[request.item_id, request.variant, request.index]
            outcome, texts[i] = questions[i].read(generation)
            replies[i].append(Reply(questions[i].prompt, attempt, generation.text, outcome))
        open_ones = [i for i in open_ones if replies[i][-1].failed]
    return list(zip(replies, texts, strict=True))


def _request(question: Question, attempt: int, how: Asking) -> GenerationRequest:
    sampled = attempt > 0
    return GenerationRequest(
        item_id=question.item_id,
        benchmark=BENCHMARK,
        variant=question.prompt,
        index=attempt,
        prompt=(("user", question.text),),
        max_new_tokens=how.max_new_tokens,
        temperature=0.7 if sampled else 0.0,
        top_p=0.9 if sampled else 1.0,
        seed=derived_seed(how.seed, question.item_id, question.prompt, attempt),
    )
