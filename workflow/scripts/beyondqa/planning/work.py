"""What requests ask of a model, and the jobs that make them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ..engines.base import BranchRequest, GenerationRequest, Prompt, Request
from ..inference import asked_everything
from ..study import Study

CHARACTERS_A_TOKEN = 4.0


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
class JobPlan:
    """The jobs of one (stage, model, pack): what they are asked, how many are finished and the seconds of those whose
    time is known.

    `pack` is "" for jobs that know none, and those cannot be split into shards.
    """

    stage: str
    model: str
    pack: str
    items: int
    jobs: int
    work: Work
    finished: int
    seconds: tuple[float, ...]


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


def finished_jobs(study: Study, names: Iterable[str]) -> tuple[int, tuple[float, ...]]:
    """How many of some jobs are finished, and the seconds of those that did all their work themselves: one that went
    on from its journal took but a part of it. A job's name is its result's path without the ending."""
    results = Path(study.config["results"])
    done = [name for name in names if (results / f"{name}.jsonl").exists()]
    whole = [name for name in done if _asked_everything(results / "logs" / f"{name}.log")]
    seconds = (benchmark_seconds(results / "benchmarks" / f"{name}.tsv") for name in whole)
    return len(done), tuple(s for s in seconds if s is not None)


def _asked_everything(path: Path) -> bool:
    return path.exists() and asked_everything(path.read_text(encoding="utf-8", errors="replace"))


def benchmark_seconds(path: Path) -> float | None:
    """Wall-clock seconds in a Snakemake benchmark file, None where there is none."""
    if not path.exists():
        return None
    header, *rows = path.read_text(encoding="utf-8").splitlines()
    return float(dict(zip(header.split("\t"), rows[-1].split("\t"), strict=True))["s"]) if rows else None
