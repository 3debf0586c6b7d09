"""One greedy answer an item."""

from __future__ import annotations

from ..engines.base import GenerationRequest
from .base import Job

SETTINGS, PROMPTS, ROLE, ANSWERS = "", (), "", ""


def requests(job: Job) -> list[GenerationRequest]:
    """One request an item, temperature 0."""
    return [
        GenerationRequest(
            item_id=item.id,
            benchmark=item.benchmark,
            variant="greedy",
            index=0,
            prompt=job.prompt(item),
            max_new_tokens=job.token_limit(item.benchmark),
            stop=job.benchmarks[item.benchmark].stop,
            truncation_side=job.benchmarks[item.benchmark].truncation_side,
        )
        for item in job.items
    ]
