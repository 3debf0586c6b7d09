"""Completions of some items, enough for every number of samples that `relaxed_grid` compares."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from ..engines.base import GenerationRequest
from ..identity import derived_seed
from ..items import Item
from . import completions
from .base import Job

SETTINGS, PROMPTS, ROLE, ANSWERS = "relaxed_grid", (), "", ""


def requests(job: Job) -> list[GenerationRequest]:
    """As the stage `completions`, for `items` items of each benchmark."""
    return completions.requests(dataclasses.replace(job, items=list(_drawn(job))))


def _drawn(job: Job) -> Iterator[Item]:
    """The items, in their order; which they are depends on the study's seed and the items' ids alone."""
    for benchmark in dict.fromkeys(item.benchmark for item in job.items):
        own = [item for item in job.items if item.benchmark == benchmark]
        ranks = {item.id: derived_seed(job.seed, "relaxed_grid", benchmark, item.id) for item in own}
        chosen = sorted(ranks, key=lambda name: (ranks[name], name))[: job.settings["items"]]
        yield from (item for item in own if item.id in chosen)
