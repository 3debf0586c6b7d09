"""The jobs of the inference stages and what they ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from .. import stages
from ..items import Generation, Item
from ..stages.base import Job
from ..study import Study
from .samples import Sample
from .work import CHARACTERS_A_TOKEN, JobPlan, Work, finished_jobs, request_work


def work_of(study: Study, stage: str, drawn: Sample) -> Work:
    """What a stage asks one model about a benchmark (a helper's stage: about the answers of one model)."""
    asked = sum(map(request_work, stages.get(stage).requests(stage_job(study, stage, drawn.items))), Work())
    return asked * (items_asked(study, stage, drawn.count) / items_asked(study, stage, len(drawn.items)))


def items_asked(study: Study, stage: str, count: int) -> int:
    """Of so many items of a benchmark those that a stage asks about, which may draw some."""
    return min(count, study.stage_settings(stage).get("items", count))


def stage_job(study: Study, stage: str, items: Sequence[Item]) -> Job:
    """A job of the stage about the items, with imagined answers where it is about answers."""
    inference = study.config["inference"]
    return Job(
        stage=stage,
        model="",
        seed=0,
        items=items,
        benchmarks=study.benchmarks,
        settings=study.stage_settings(stage),
        chat_template=inference["chat_template"],
        max_new_tokens=inference.get("max_new_tokens"),
        answers=imagined_answers(study, stages.get(stage).ANSWERS, items),
        prompts={Path(p).stem: Path(p).read_text(encoding="utf-8").strip() for p in study.stage_prompts(stage)},
    )


def imagined_answers(study: Study, stage: str, items: Sequence[Item]) -> list[Generation]:
    """The answers that a stage will give, each as long as its limit and none with the tokens of another; none for "",
    a stage about no answers."""
    if not stage:
        return []
    requests = stages.get(stage).requests(stage_job(study, stage, items))
    return [
        Generation(
            item_id=request.item_id,
            benchmark=request.benchmark,
            model=request.model,
            variant=request.variant,
            index=request.index,
            text="word " * round(request.max_new_tokens * CHARACTERS_A_TOKEN / len("word ")),
            finish_reason="length",
            log_probability=-float(request.max_new_tokens),
            token_ids=tuple(
                range(request.index * request.max_new_tokens, (request.index + 1) * request.max_new_tokens)
            ),
            token_log_probabilities=(-1.0,) * request.max_new_tokens,
            token_margins=(0.0,) * request.max_new_tokens,
        )
        for request in requests
    ]


def stage_plans(study: Study, samples: Mapping[str, Sample]) -> list[JobPlan]:
    """The jobs of every stage about the benchmarks that there are samples of."""
    works: dict[tuple[str, str], Work] = {}
    plans = []
    for stage in stages.names():
        helper = study.helper_stages.get(stage)
        for pack in study.packs:
            askers = [helper] if helper else study.models_of(pack)
            for model in askers:
                names = study.stage_benchmarks(stage, pack, None if helper else model)
                if study.models[model]["engine"] == "recorded" or not names:
                    continue
                total, items = Work(), 0
                for name in filter(samples.__contains__, names):
                    if (stage, name) not in works:
                        works[stage, name] = work_of(study, stage, samples[name])
                    about = sum(name in study.benchmarks_of(m, pack) for m in study.models) if helper else 1
                    total += works[stage, name] * about
                    items += items_asked(study, stage, samples[name].count) * about
                folders = {"inference": stage}
                if stage in study.template_stages(model):
                    folders[study.other_template] = f"{stage}, {study.other_template}"
                shards = study.shards(stage)
                for folder, label in folders.items():
                    jobs = [f"{folder}/{stage}/{model}/{pack}/{i}-of-{shards}" for i in range(1, shards + 1)]
                    plans.append(JobPlan(label, model, pack, items, shards, total, *finished_jobs(study, jobs)))
    return plans
