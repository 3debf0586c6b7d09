"""Repeated sampling of the same prompt, for self-consistency (paper 1, section 3.5 and appendix C.2)."""

from __future__ import annotations

from ..engines.base import GenerationRequest
from .base import Job

SETTINGS, PROMPTS, ROLE, ANSWERS = "samples", (), "", ""


def requests(job: Job) -> list[GenerationRequest]:
    """`count` sampled answers an item, each with its own seed."""
    return [
        GenerationRequest(
            item_id=item.id,
            benchmark=item.benchmark,
            variant="sample",
            index=index,
            prompt=job.prompt(item),
            max_new_tokens=job.token_limit(item.benchmark),
            temperature=job.settings["temperature"],
            top_p=job.settings["top_p"],
            seed=job.item_seed(item.benchmark, item.id, index),
            stop=job.benchmarks[item.benchmark].stop,
            truncation_side=job.benchmarks[item.benchmark].truncation_side,
        )
        for item in job.items
        for index in range(job.settings["count"])
    ]
