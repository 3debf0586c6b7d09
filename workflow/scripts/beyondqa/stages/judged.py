"""Judgements of the models' greedy answers by a language model (Prometheus in paper 1)."""

from __future__ import annotations

from collections.abc import Sequence

from ..engines.base import GenerationRequest
from ..items import Generation, OpenItem
from ..metrics import judge
from .base import Job

SETTINGS, PROMPTS, ROLE, ANSWERS = "judged", judge.PROMPTS, "judge", "greedy"


def requests(job: Job) -> list[GenerationRequest]:
    """The first attempt to judge every answer that is not blank."""
    return [_request(job, items[answer.item_id], answer, attempt=0) for items, answer in _answers(job)]


def follow_up(job: Job, answers: Sequence[Generation]) -> list[GenerationRequest]:
    """A further attempt for each answer none of whose judgements so far could be read, within `attempts`."""
    judged: dict[tuple[str, str, int], list[Generation]] = {}
    for judgement in answers:
        judged.setdefault((judgement.model, judgement.item_id, judgement.index), []).append(judgement)
    again = []
    for items, answer in _answers(job):
        judgements = judged.get((answer.model, answer.item_id, answer.index), [])
        unread = judgements and all(judge.parse(judgement.text) is None for judgement in judgements)
        if unread and len(judgements) < job.settings["attempts"]:
            again.append(_request(job, items[answer.item_id], answer, attempt=len(judgements)))
    return again


def _answers(job: Job):
    items = {item.id: item for item in job.items if isinstance(item, OpenItem)}
    return [(items, answer) for answer in job.answers if answer.item_id in items and answer.text.strip()]


def _request(job: Job, item: OpenItem, answer: Generation, attempt: int) -> GenerationRequest:
    about = f"{answer.model}/{answer.variant}/{attempt}"
    return GenerationRequest(
        item_id=item.id,
        benchmark=item.benchmark,
        variant=judge.variant(answer, attempt),
        index=answer.index,
        prompt=judge.messages(item, answer.text, job.prompts),
        max_new_tokens=job.settings["max_new_tokens"],
        # At temperature 0 a second attempt would repeat the first.
        temperature=job.settings["temperature"] if attempt == 0 else 1.0,
        top_p=job.settings["top_p"],
        seed=job.item_seed(item.benchmark, item.id, answer.index, about=about),
        model=answer.model,
    )
