"""Hours, disk and money of the planned jobs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from .. import engines, resources
from ..identity import file_sha256
from ..records import read_records
from ..study import Study
from .construction import construction_plans
from .edits import edit_plans
from .samples import evenly, sample
from .stage_jobs import stage_plans
from .work import CHARACTERS_A_TOKEN, JobPlan, Work

LIBRARIES_SECONDS = 60
# Of one record: what stands around the text, a written token, and the log-probability of a scored one.
RECORD_BYTES, GENERATED_BYTES, SCORED_BYTES = 500, 4, 21
COPIES = 2  # journal and result
SCALES = (1, 10, 100)


def job_plans(study: Study) -> tuple[list[JobPlan], dict[str, str]]:
    """All jobs that ask models, and per benchmark where its figures come from."""
    drawn = {name: sample(study, name) for name in study.benchmarks}
    known = {name: found for name, found in drawn.items() if found}
    plans = [*construction_plans(study, known), *stage_plans(study, known), *edit_plans(study, known)]
    return plans, {name: found.basis if found else "size unknown: left out" for name, found in drawn.items()}


def characters_a_token(directory: Path | None, texts: Sequence[str]) -> float:
    """Characters in one token of the model's tokenizer over the texts; four where it is not on disk."""
    path = directory / "tokenizer.json" if directory else None
    if path is None or not path.exists() or not texts:
        return CHARACTERS_A_TOKEN
    from tokenizers import Tokenizer

    encodings = Tokenizer.from_file(str(path)).encode_batch(list(texts), add_special_tokens=False)
    return sum(map(len, texts)) / sum(len(encoding.ids) for encoding in encodings)


def estimated_seconds(study: Study, model: str, work: Work, characters: float, jobs: int) -> float:
    """Seconds that so many jobs of a model take together: start and weights once a job, then reading and writing.

    Throughput is in tokens a second times billions of parameters, on one GPU or one thread. Zero for engines
    whose answers come from elsewhere.
    """
    entry, planning = study.models[model], study.config["planning"]
    rates = planning["throughput"].get(entry["engine"])
    if rates is None:
        return 0.0
    billions = entry.get("parameters", 1.0)
    units = study.gpus(model) or engines.module(entry["engine"]).THREADS
    start = LIBRARIES_SECONDS + resources.weight_gb(entry) / planning["load_gb_per_second"]
    reading = work.read_characters / characters * billions / (rates["prompt"] * units)
    writing = work.generated_tokens * billions / (rates["generated"] * units)
    return jobs * start + reading + writing


def corrections(study: Study, plans: Iterable[JobPlan], characters: Mapping[str, float]) -> dict[str, float]:
    """Measured over estimated seconds by engine, from the jobs whose time is known; an engine without any has none."""
    measured: dict[str, list[tuple[float, float]]] = {}
    for plan in plans:
        if plan.seconds:
            done = len(plan.seconds)
            share = plan.work * (done / plan.jobs)
            estimate = estimated_seconds(study, plan.model, share, characters[plan.model], done)
            measured.setdefault(study.models[plan.model]["engine"], []).append((sum(plan.seconds), estimate))
    return {
        engine: sum(took for took, _ in pairs) / sum(estimate for _, estimate in pairs)
        for engine, pairs in measured.items()
        if any(estimate for _, estimate in pairs)
    }


def model_characters(study: Study) -> dict[str, float]:
    """Characters a token by model, each tokenizer read once however many models share it."""
    paths = [Path(study.config["results"]) / "datasets" / f"{name}.jsonl" for name in study.benchmarks]
    texts = [item.prompt for path in paths if path.exists() for item in evenly(list(read_records(path)), 5)]
    found: dict[str, float] = {}
    ratios = {}
    for model in study.models:
        directory = study.model_directory(model)
        path = directory / "tokenizer.json" if directory else None
        key = file_sha256(path) if path and path.exists() else ""
        if key not in found:
            found[key] = characters_a_token(directory, texts)
        ratios[model] = found[key]
    return ratios


def long_jobs(
    study: Study, plans: Iterable[JobPlan], characters: Mapping[str, float], factors: Mapping[str, float]
) -> tuple[list[str], dict[str, int]]:
    """Unfinished jobs whose estimate exceeds their first time limit, with the hours of both; and the shards by stage
    with which none would, 0 where starting alone takes too long."""
    found: list[str] = []
    shards: dict[str, int] = {}
    for plan in plans:
        factor = factors.get(study.models[plan.model]["engine"], 1.0)
        start, working = (
            factor * estimated_seconds(study, plan.model, work, characters[plan.model], jobs)
            for work, jobs in ((Work(), 1), (plan.work, 0))
        )
        seconds, limit = start + working / plan.jobs, 60 * study.runtime_minutes(plan.model)
        if seconds > limit and plan.finished < plan.jobs:
            name = "/".join(filter(None, (plan.stage, plan.model, plan.pack)))
            found.append(f"{name} ({seconds / 3600:.1f} h, limit {limit / 3600:.1f} h)")
            if plan.pack:
                stage = plan.stage.partition(",")[0]
                needed = math.ceil(working / (limit - start)) if limit > start else 0
                shards[stage] = max(needed, shards.get(stage, 0))
    return found, shards


def estimates(study: Study) -> tuple[dict[int, Any], list[str]]:
    """By scale one DataFrame with a row a (stage, model), for a study whose benchmarks are `scale` times as long;
    and what the figures rest on, one sentence each.

    Columns: stage, model, gpus, gpu, jobs, finished, items, requests, tokens_read, tokens_written, hours (of all
    jobs one after the other), gpu_hours, cost, disk_gb (answers, and the weights with the model's first stage).
    """
    plans, bases = job_plans(study)
    characters = model_characters(study)
    factors = corrections(study, plans, characters)
    frames = {scale: _frame(study, plans, characters, factors, scale) for scale in SCALES}
    remarks = notes(study, bases, *long_jobs(study, plans, characters, factors))
    return frames, [*remarks, *doubts(study, plans, factors)]


def _frame(study: Study, plans, characters, factors, scale: int) -> Any:
    import pandas as pd

    rows = [_row(study, plan, characters[plan.model], factors, scale) for plan in plans]
    frame = pd.DataFrame(rows, columns=COLUMNS).groupby(COLUMNS[:4], sort=False, as_index=False).sum()
    stored = {model: study.model_directory(model) is not None for model in study.models}
    weights = frame["model"].map(lambda model: resources.weight_gb(study.models[model]) if stored[model] else 0.0)
    frame["disk_gb"] += weights.where(~frame["model"].duplicated(), 0.0)
    return frame


COLUMNS = [
    *("stage", "model", "gpus", "gpu", "jobs", "finished", "items", "requests"),
    *("tokens_read", "tokens_written", "hours", "gpu_hours", "cost", "disk_gb"),
]


def _row(study: Study, plan: JobPlan, characters: float, factors: Mapping[str, float], scale: float) -> tuple:
    planning = study.config["planning"]
    work = plan.work * scale
    factor = factors.get(study.models[plan.model]["engine"], 1.0)
    left = 1 - len(plan.seconds) / plan.jobs if scale == 1 else 1.0
    estimate = factor * estimated_seconds(study, plan.model, work * left, characters, round(plan.jobs * left))
    hours = (estimate + (sum(plan.seconds) if scale == 1 else 0.0)) / 3600
    gpus = study.gpus(plan.model)
    scored = work.scored_characters / characters
    stored = work.requests * RECORD_BYTES + work.generated_tokens * GENERATED_BYTES + scored * SCORED_BYTES
    return (
        plan.stage,
        plan.model,
        gpus,
        planning["gpu"] if gpus else "",
        plan.jobs,
        plan.finished,
        round(plan.items * scale),
        round(work.requests),
        round(work.read_characters / characters),
        round(work.generated_tokens),
        hours,
        hours * gpus,
        hours * gpus * planning["price_per_gpu_hour"],
        COPIES * stored / 1e9,
    )


def totals(frames: Mapping[int, Any]) -> Any:
    """Sums of the tables by scale: jobs, requests, tokens, hours, GPU hours, cost, disk."""
    import pandas as pd

    names = ["jobs", "requests", "tokens_read", "tokens_written", "hours", "gpu_hours", "cost", "disk_gb"]
    return pd.DataFrame([{"scale": scale, **frame[names].sum()} for scale, frame in frames.items()])


def notes(study: Study, bases: Mapping[str, str], too_long: Sequence[str], shards: Mapping[str, int]) -> list[str]:
    """What the figures rest on, one sentence each."""
    planning = study.config["planning"]
    by_basis: dict[str, list[str]] = {}
    for name, basis in bases.items():
        by_basis.setdefault(basis, []).append(name)
    rates = "; ".join(
        f"{e}: {r['prompt']:g} read, {r['generated']:g} written" for e, r in planning["throughput"].items()
    )
    wanted = ", ".join(f"{stage}: {count}" for stage, count in shards.items() if count)
    advice = (
        "A job that meets its limit goes on where it was in the next attempt. Short enough were "
        f"`inference.stage_shards: {{{wanted}}}`"
        if wanted
        else "Give the model a longer `runtime`, within `planning.longest_job_hours`"
    )
    return [
        *([f"Longer than their time limit: {', '.join(too_long)}. {advice}."] if too_long else []),
        *(f"{basis}: {', '.join(names)}." for basis, names in by_basis.items()),
        "Tokens are counted with the model's tokenizer where it is on disk, and as four characters elsewhere.",
        "An answer counts with its full limit of tokens. Hand-written rows are shorter than the published ones, notes "
        "and abstracts several times: after `fetch`, `snakemake --cores 1 data_report` brings the items into the plan.",
        f"Throughput in tokens a second times billions of parameters, on one GPU or thread ({rates}), is corrected by "
        "the time of finished jobs, of those that did not go on from a journal.",
        f"Price: {planning['price_per_gpu_hour']:g} for one hour of one {planning['gpu']}.",
        "Hours are those of all jobs one after the other. Not in them are metrics, tables and figures, the entities of "
        "EntQA, which take one GPU for the time of their encoder, the target `parity`, and what is asked again: of "
        "CareQA-Open's construction and of the judge the first attempts are in them. The study of edits counts with "
        "every kind of edit on every text. Disk holds the models and their answers, not the encoders of metrics.",
    ]


def doubts(study: Study, plans: Sequence[JobPlan], factors: Mapping[str, float]) -> list[str]:
    """What makes figures of the plan wrong or unknown, one sentence each."""
    asked = {plan.model: study.models[plan.model] for plan in plans}
    known = study.config["planning"]["throughput"]
    counts = {engine: sum(len(p.seconds) for p in plans if asked[p.model]["engine"] == engine) for engine in factors}
    found = [
        f"{engine}: hours times {factor:.3g}, by {counts[engine]} finished jobs." for engine, factor in factors.items()
    ]
    lists = {
        "No `planning.throughput` of their engine, so that hours and cost are 0": [
            model for model, entry in asked.items() if entry["engine"] not in known
        ],
        "Counted as one billion for want of `parameters`": [
            model for model, entry in asked.items() if entry["engine"] in known and "parameters" not in entry
        ],
        f"More GPUs than the {resources.GPUS_A_NODE} of most nodes, and a job's have to sit in one": [
            f"{model} ({study.gpus(model)})" for model in asked if study.gpus(model) > resources.GPUS_A_NODE
        ],
    }
    return found + [f"{problem}: {', '.join(models)}." for problem, models in lists.items() if models]
