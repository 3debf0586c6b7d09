"""Items by which a benchmark's requests are counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..benchmarks import Benchmark
from ..items import Item
from ..loading import load
from ..records import read_records
from ..study import Study

SAMPLE = 60
HAND_WRITTEN = "resources/demo"


@dataclass(frozen=True)
class Sample:
    """Some items of a benchmark, how many there are in all, and where both are known from."""

    items: Sequence[Item]
    count: int
    basis: str


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
