"""The jobs of CareQA-Open's construction, as if every first reply were usable."""

from __future__ import annotations

from collections.abc import Mapping

from ..careqa_open.asking import Asking, token_limit
from ..careqa_open.construction import STEPS, read_templates
from ..careqa_open.decisions import kept
from ..careqa_open.keywords import filter_keywords
from ..engines.base import GenerationRequest
from ..items import Generation, MultipleChoiceItem
from ..study import Study
from .samples import Sample
from .work import JobPlan, Work, finished_jobs, request_work


def construction_plans(study: Study, samples: Mapping[str, Sample]) -> list[JobPlan]:
    """One job a step that asks the model; none where the study rebuilds nothing."""
    if "careqa_open_construction" not in study.config or "careqa" not in samples:
        return []
    settings, drawn = study.config["careqa_open_construction"], samples["careqa"]
    items = {item.id: item for item in drawn.items}
    how = Asking(1, study.config["study"]["seed"], token_limit(study.config["inference"].get("max_new_tokens")))
    decisions = filter_keywords(items.values(), settings["reading"])
    plans = []
    for name, step in STEPS.items():
        asked: list[GenerationRequest] = []

        def answer(requests, name=name, asked=asked):
            asked += requests
            return [_usable(name, request, items[request.item_id]) for request in requests]

        share = drawn.count / len(items)
        questions = round(len(kept(decisions)) * share)
        templates = read_templates(f"resources/prompts/{prompt}.txt" for prompt in step.prompts)
        decisions = step.decide(items, decisions, templates, answer, how)
        work = sum(map(request_work, asked), Work()) * share
        job = f"careqa_open/{name}"
        plans.append(JobPlan(job, settings["model"], "", questions, 1, work, *finished_jobs(study, [job])))
    return plans


def _usable(step: str, request: GenerationRequest, item: MultipleChoiceItem) -> Generation:
    """A reply that the step takes: a version as long as the question, the first version, or yes."""
    words = "word " * (len(item.question) // len("word "))
    text = {"rephrasing": f"{request.variant} {words}?", "selection": "1", "validation": "YES"}[step]
    return Generation(
        item_id=request.item_id,
        benchmark=request.benchmark,
        model="",
        variant=request.variant,
        index=request.index,
        text=text,
        finish_reason="stop",
    )
