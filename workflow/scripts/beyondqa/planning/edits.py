"""The jobs that ask models how probable edited references are, as if every edit applied to every text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..sensitivity import choice
from ..sensitivity.corruptions import KINDS
from ..sensitivity.targets import requests, target
from ..study import Study
from .samples import Sample
from .stage_jobs import imagined_answers, stage_job
from .work import JobPlan, Work, finished_jobs, request_work

STAGE = "edits"


def edit_plans(study: Study, samples: Mapping[str, Sample]) -> list[JobPlan]:
    """One job a model that the study asks about edits."""
    most = study.config["sensitivity"]["items"]
    plans = []
    for model in choice.target_models(study):
        total, targets = Work(), 0
        for name in filter(samples.__contains__, choice.target_benchmarks(study)):
            drawn = samples[name]
            asked = min(most, drawn.count)
            total += _work(study, model, name, drawn) * (asked / len(drawn.items))
            targets += asked * len(KINDS)
        done = finished_jobs(study, [f"statistics/sensitivity/targets/{model}"])
        plans.append(JobPlan(STAGE, model, "", targets, 1, total, *done))
    return plans


def _work(study: Study, model: str, benchmark: str, drawn: Sample) -> Work:
    """About every edit of each of the sample's items, an edit being as long as the reference."""
    targets = [target(item, kind, item.reference) for item in drawn.items for kind in KINDS]
    completed = any(benchmark in study.stage_benchmarks("completions", pack, model) for pack in study.packs)
    completions = imagined_answers(study, "completions", drawn.items) if completed else []
    job = replace(stage_job(study, "likelihoods", targets), settings=study.stage_settings("relaxed"))
    asked = requests(job, completions, variants=choice.target_variants(study))
    return sum(map(request_work, asked), Work())
