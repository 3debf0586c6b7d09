"""Sampled completions of the prompts, with their tokens, from which Relaxed Perplexity takes its prefixes."""

from __future__ import annotations

from ..engines.base import GenerationRequest
from ..relaxed_perplexity import completion_requests, readings, samples_a_seed
from .base import Job

SETTINGS, PROMPTS, ROLE, ANSWERS = "relaxed", (), "", ""


def requests(job: Job) -> list[GenerationRequest]:
    """For every item, way of sampling and seed, its completions; index = seed * samples + number."""
    by_sampling = {reading.sampling: reading for reading in readings(job.settings)}
    count = samples_a_seed(job.settings) * job.settings["seeds"]
    return [
        request
        for item in job.items
        for sampling, reading in by_sampling.items()
        for request in completion_requests(
            item,
            job.prompt(item),
            reading,
            [job.item_seed(item.benchmark, item.id, index, about=sampling) for index in range(count)],
            side=job.benchmarks[item.benchmark].truncation_side,
        )
    ]
