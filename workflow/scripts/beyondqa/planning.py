"""What a study will cost before anything is submitted: items, tokens, GPU hours, disk and money.

Requests are those that the stages really make, of a sample of each benchmark's items; tokens are counted with a
model's own tokenizer where it lies on disk and are four characters long elsewhere. A written answer counts with
its full limit, so that tokens written are an upper bound; tokens read are too few while they rest on hand-written
rows, whose texts are shorter than the published ones. Hours follow from the throughput in the config's `planning`
and are corrected by the time that finished jobs took.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import engines, resources, stages
from .benchmarks import Benchmark
from .engines.base import BranchRequest, GenerationRequest, Prompt, Request
from .identity import file_sha256
from .items import Generation, Item
from .loading import load
from .records import read_records
from .stages.base import Job
from .study import Study

SAMPLE = 60
CHARACTERS_A_TOKEN = 4.0
LIBRARIES_SECONDS = 60
# Of one record: what stands around the text, a written token, and the log-probability of a scored one.
RECORD_BYTES, GENERATED_BYTES, SCORED_BYTES = 500, 4, 21
COPIES = 2  # journal and result
SCALES = (1, 10, 100)
HAND_WRITTEN = "resources/demo"


@dataclass(frozen=True)
class Work:
    """What is asked: requests, characters that are read and (among them) scored, tokens that are written."""

    requests: float = 0.0
    read_characters: float = 0.0
    scored_characters: float = 0.0
    generated_tokens: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(*(a + b for a, b in zip(self.parts(), other.parts(), strict=True)))

    def __mul__(self, factor: float) -> Work:
        return Work(*(factor * part for part in self.parts()))

    def parts(self) -> tuple[float, float, float, float]:
        return self.requests, self.read_characters, self.scored_characters, self.generated_tokens


@dataclass(frozen=True)
class Sample:
    """Some items of a benchmark, how many there are in all, and where both are known from."""

    items: Sequence[Item]
    count: int
    basis: str


@dataclass(frozen=True)
class JobPlan:
    """The jobs of one (stage, model, pack): what they are asked and the seconds that finished ones took."""

    stage: str
    model: str
    pack: str
    items: int
    jobs: int
    work: Work
    finished_seconds: tuple[float, ...]


def sample(study: Study, benchmark: str) -> Sample | None:
    """Items of the benchmark: its normalised ones, or hand-written ones with the published count.

    None where neither the items nor their number are known.
    """
    path = Path(study.config["results"]) / "datasets" / f"{benchmark}.jsonl"
    if path.exists():
        items = list(read_records(path))
        return Sample(evenly(items, SAMPLE), len(items), "items")
    described, entry = study.benchmarks[benchmark], study.config["benchmarks"][benchmark]
    count = published_count(described, entry.get("expected_rows"))
    count = min(filter(None, (count, entry.get("limit"))), default=0)
    if not count:
        return None
    loaded = load(
        benchmark,
        hub_mirror=study.config["hub_mirror"],
        originals=study.config["originals"],
        rows=study.config.get("rows", HAND_WRITTEN),
        prompt=f"resources/prompts/{described.prompt}.txt",
        seed=study.config["study"]["seed"],
    )
    return Sample(evenly(loaded.items, SAMPLE), count, "published count, hand-written rows")


def published_count(benchmark: Benchmark, rows: int | None = None) -> int:
    """Items of the benchmark as published, or of a source with so many rows; 0 where it is not known.

    Filters that take a part of the source apply; those that look at rows are taken to keep them all.
    """
    if rows is None and benchmark.expected_groups:
        return sum(benchmark.expected_groups.values())
    left = [{}] * (rows or max(benchmark.expected_rows.values(), default=0))
    for step in benchmark.filters:
        left = list(step.keep(left)) if step.of_source else left
    return len(left)


def evenly(values: Sequence[Any], most: int) -> list[Any]:
    """At most so many of the values, at equal distances."""
    step = max(1, math.ceil(len(values) / most))
    return list(values[::step])


def work_of(study: Study, stage: str, drawn: Sample) -> Work:
    """What a stage asks one model about a benchmark (a helper's stage: about the answers of one model)."""
    asked = sum(map(request_work, stages.get(stage).requests(_job(study, stage, drawn.items))), Work())
    return asked * (items_asked(study, stage, drawn.count) / items_asked(study, stage, len(drawn.items)))


def items_asked(study: Study, stage: str, count: int) -> int:
    """Of so many items of a benchmark those that a stage asks about, which may draw some."""
    return min(count, study.stage_settings(stage).get("items", count))


def _job(study: Study, stage: str, items: Sequence[Item]) -> Job:
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
        answers=_imagined(study, stages.get(stage).ANSWERS, items),
        prompts={Path(p).stem: Path(p).read_text(encoding="utf-8").strip() for p in study.stage_prompts(stage)},
    )


def _imagined(study: Study, stage: str, items: Sequence[Item]) -> list[Generation]:
    """The answers that a stage will give, each as long as its limit and none with the tokens of another; none for "",
    a stage about no answers."""
    if not stage:
        return []
    requests = stages.get(stage).requests(_job(study, stage, items))
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


def request_work(request: Request) -> Work:
    """What one request asks. Every position of a completion counts with all that stands before it."""
    read = prompt_characters(request.prompt)
    if isinstance(request, GenerationRequest):
        return Work(1, read, 0, request.max_new_tokens)
    scored = len(request.continuation)
    if isinstance(request, BranchRequest):
        times = len(request.positions)
        prefixes = sum(request.positions) * CHARACTERS_A_TOKEN
        return Work(1, times * (read + scored) + prefixes, times * scored, 0)
    return Work(1, read + scored, scored, 0)


def prompt_characters(prompt: Prompt) -> int:
    """Length of a prompt, its messages' contents together where it is made of messages."""
    return len(prompt) if isinstance(prompt, str) else sum(len(content) for _, content in prompt)


def characters_a_token(directory: Path | None, texts: Sequence[str]) -> float:
    """Characters in one token of the model's tokenizer over the texts; four where it is not on disk."""
    path = directory / "tokenizer.json" if directory else None
    if path is None or not path.exists() or not texts:
        return CHARACTERS_A_TOKEN
    from tokenizers import Tokenizer

    encodings = Tokenizer.from_file(str(path)).encode_batch(list(texts), add_special_tokens=False)
    return sum(map(len, texts)) / sum(len(encoding.ids) for encoding in encodings)


def job_plans(study: Study) -> tuple[list[JobPlan], dict[str, str]]:
    """All inference jobs of a study, and per benchmark where its figures come from."""
    drawn = {name: sample(study, name) for name in study.benchmarks}
    known = {name: found for name, found in drawn.items() if found}
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
                for name in filter(known.__contains__, names):
                    if (stage, name) not in works:
                        works[stage, name] = work_of(study, stage, known[name])
                    about = sum(name in study.benchmarks_of(m, pack) for m in study.models) if helper else 1
                    total += works[stage, name] * about
                    items += items_asked(study, stage, known[name].count) * about
                folders = {"inference": stage}
                if stage in study.template_stages(model):
                    folders[study.other_template] = f"{stage}, {study.other_template}"
                plans += [
                    JobPlan(label, model, pack, items, *_jobs(study, folder, stage, model, pack, total))
                    for folder, label in folders.items()
                ]
    return plans, {name: found.basis if found else "size unknown: left out" for name, found in drawn.items()}


def _jobs(
    study: Study, folder: str, stage: str, model: str, pack: str, work: Work
) -> tuple[int, Work, tuple[float, ...]]:
    shards = study.shards(stage)
    results = Path(study.config["results"])
    names = [f"{folder}/{stage}/{model}/{pack}/{i}-of-{shards}" for i in range(1, shards + 1)]
    done = [name for name in names if (results / f"{name}.jsonl").exists()]
    seconds = (benchmark_seconds(results / "benchmarks" / f"{name}.tsv") for name in done)
    return shards, work, tuple(s for s in seconds if s is not None)


def benchmark_seconds(path: Path) -> float | None:
    """Wall-clock seconds in a Snakemake benchmark file, None where there is none."""
    if not path.exists():
        return None
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    return float(dict(zip(header.split("\t"), rows[-1].split("\t"), strict=True))["s"]) if rows else None


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
    """Measured over estimated seconds by engine, from the finished jobs; an engine without any has none."""
    measured: dict[str, list[float]] = {}
    for plan in plans:
        if plan.finished_seconds:
            done = len(plan.finished_seconds)
            share = plan.work * (done / plan.jobs)
            estimate = estimated_seconds(study, plan.model, share, characters[plan.model], done)
            measured.setdefault(study.models[plan.model]["engine"], []).append((sum(plan.finished_seconds), estimate))
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
        if seconds > limit and len(plan.finished_seconds) < plan.jobs:
            name = f"{plan.stage}/{plan.model}/{plan.pack}"
            found.append(f"{name} ({seconds / 3600:.1f} h, limit {limit / 3600:.1f} h)")
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
    return frames, notes(study, bases, *long_jobs(study, plans, characters, factors))


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
    left = 1 - len(plan.finished_seconds) / plan.jobs if scale == 1 else 1.0
    estimate = factor * estimated_seconds(study, plan.model, work * left, characters, round(plan.jobs * left))
    hours = (estimate + (sum(plan.finished_seconds) if scale == 1 else 0.0)) / 3600
    gpus = study.gpus(plan.model)
    scored = work.scored_characters / characters
    stored = work.requests * RECORD_BYTES + work.generated_tokens * GENERATED_BYTES + scored * SCORED_BYTES
    return (
        plan.stage,
        plan.model,
        gpus,
        planning["gpu"] if gpus else "",
        plan.jobs,
        len(plan.finished_seconds),
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
        else "Give the model a longer `runtime`"
    )
    return [
        *([f"Longer than their time limit: {', '.join(too_long)}. {advice}."] if too_long else []),
        *(f"{basis}: {', '.join(names)}." for basis, names in by_basis.items()),
        "Tokens are counted with the model's tokenizer where it is on disk, and as four characters elsewhere.",
        "An answer counts with its full limit of tokens. Hand-written rows are shorter than the published ones, notes "
        "and abstracts several times: after `fetch`, `snakemake --cores 1 data_report` brings the items into the plan.",
        f"Throughput in tokens a second times billions of parameters, on one GPU or thread ({rates}), is corrected by "
        "the time of finished jobs.",
        f"Price: {planning['price_per_gpu_hour']:g} for one hour of one {planning['gpu']}.",
        "Hours are those of all jobs one after the other; metrics, tables, figures and CareQA-Open's construction are "
        "not in them.",
    ]


def as_text(frames: Mapping[int, Any], remarks: Sequence[str]) -> str:
    """The plan for a terminal."""
    parts = [frames[1].to_string(index=False, formatters=_FORMATTERS), "The study at 1, 10 and 100 times its size:"]
    return "\n\n".join([*parts, totals(frames).to_string(index=False, formatters=_FORMATTERS), *remarks])


def as_html(name: str, frames: Mapping[int, Any], remarks: Sequence[str]) -> str:
    """The plan as one page without scripts; every name is escaped."""
    options = {"index": False, "formatters": _FORMATTERS, "border": 0, "escape": True}
    name = html.escape(name)
    listed = "".join(f"<li>{html.escape(remark)}</li>" for remark in remarks)
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Plan of {name}</title>'
        "<style>body{font-family:sans-serif}td,th{padding:.2em .6em;text-align:right}</style></head><body>"
        f"<h1>Plan of {name}</h1>{frames[1].to_html(**options)}"
        f"<h2>At 1, 10 and 100 times its size</h2>{totals(frames).to_html(**options)}"
        f"<h2>What the figures rest on</h2><ul>{listed}</ul></body></html>\n"
    )


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _amount(value: float) -> str:
    return f"{value:,.2f}"


_COUNTS = ("jobs", "finished", "items", "requests", "tokens_read", "tokens_written", "scale")
_FORMATTERS = {
    **dict.fromkeys(_COUNTS, _count),
    **dict.fromkeys(("hours", "gpu_hours", "cost", "disk_gb"), _amount),
}
