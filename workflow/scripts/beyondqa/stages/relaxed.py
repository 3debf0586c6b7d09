"""Log-likelihoods of an item's texts after growing prefixes of the model's completions (Relaxed Perplexity)."""

from __future__ import annotations

from ..engines.base import BranchRequest
from ..items import Generation
from ..relaxed_perplexity import branch_requests, readings, samples_a_seed
from .base import Job

SETTINGS, PROMPTS, ROLE, ANSWERS = "relaxed", (), "", "completions"


def requests(job: Job) -> list[BranchRequest]:
    """For every item, way of sampling and seed, each pair of a completion and a position that counts, once."""
    groups: dict[tuple[str, str, int], list[Generation]] = {}
    for completion in job.answers:
        seed = completion.index // samples_a_seed(job.settings)
        groups.setdefault((completion.item_id, completion.variant, seed), []).append(completion)
    items = {item.id: item for item in job.items}
    wanted = readings(job.settings)
    return [
        request
        for (item_id, sampling, _), completions in sorted(groups.items())
        for request in branch_requests(
            items[item_id],
            job.prompt(items[item_id]),
            completions,
            [reading for reading in wanted if reading.sampling == sampling],
            side=job.benchmarks[items[item_id].benchmark].truncation_side,
        )
    ]
