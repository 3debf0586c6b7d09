"""Option log-likelihoods of closed items; reference log-likelihoods, alone and given the prompt, of open ones."""

from __future__ import annotations

from collections.abc import Iterator

from ..engines.base import LikelihoodRequest
from ..items import Item, MultipleChoiceItem
from .base import Job

SETTINGS, PROMPTS, ROLE, ANSWERS = "", (), "", ""


def requests(job: Job) -> list[LikelihoodRequest]:
    """All requests of the job, item by item."""
    return [request for item in job.items for request in _of_item(job, item)]


def _of_item(job: Job, item: Item) -> Iterator[LikelihoodRequest]:
    side = job.benchmarks[item.benchmark].truncation_side
    prompt = job.prompt(item)
    # After a chat template's turn marker the answer starts without the blank that follows "Answer:".
    adapt = str.lstrip if job.chat_template else str
    if isinstance(item, MultipleChoiceItem):
        for index, candidate in enumerate(item.candidates):
            yield LikelihoodRequest(item.id, item.benchmark, "option", index, prompt, adapt(candidate), side)
        return
    yield LikelihoodRequest(item.id, item.benchmark, "reference", 0, "", item.reference, side)
    given = item.reference if job.chat_template else f" {item.reference}"
    yield LikelihoodRequest(item.id, item.benchmark, "reference_given_prompt", 0, prompt, given, side)
