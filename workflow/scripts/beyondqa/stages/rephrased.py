"""Rephrasings of the models' greedy answers, for resilience (paper 1, section 3.4 and appendix C.1)."""

from __future__ import annotations

from ..engines.base import GenerationRequest
from .base import Job

SETTINGS, PROMPTS, ROLE, ANSWERS = "rephrased", ("rephrase_answer",), "rephraser", "greedy"

# A rephrasing is about as long as the answer; the margin leaves room for a wordier one.
LENGTH_MARGIN = 1.5


def requests(job: Job) -> list[GenerationRequest]:
    """`count` rephrasings of every answer that is not blank, by the job's model as the rephraser."""
    known = {item.id for item in job.items}
    return [
        GenerationRequest(
            item_id=answer.item_id,
            benchmark=answer.benchmark,
            variant="rephrasing",
            index=index,
            prompt=(("system", job.prompts["rephrase_answer"]), ("user", answer.text)),
            max_new_tokens=round(LENGTH_MARGIN * job.token_limit(answer.benchmark)),
            temperature=job.settings["temperature"],
            top_p=job.settings["top_p"],
            seed=job.item_seed(answer.benchmark, answer.item_id, index, about=answer.model),
            model=answer.model,
        )
        for answer in job.answers
        if answer.item_id in known and answer.text.strip()
        for index in range(job.settings["count"])
    ]
