"""What a benchmark is: where its rows come from and how a row becomes an item."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..items import Item

Row = Mapping[str, Any]

# The tasks of paper 1's Table 1, in its order, and EntQA's.
TASKS = {
    "multiple_choice": "Multiple choice questions",
    "prescriptions": "Prescriptions writing",
    "text_classification": "Medical text classification",
    "relation_extraction": "Relation extraction",
    "open_questions": "Open-ended medical questions",
    "diagnosis_treatment": "Diagnosis and treatment recommendations",
    "note_taking": "Clinical note-taking",
    "factuality": "Medical factuality",
    "summarization": "Summarization",
    "question_entailment": "Question entailment",
    "entqa": "Entity coverage (EntQA)",
}


@dataclass(frozen=True)
class HubSource:
    """Rows of a Hub data set. `configs` are loaded in their order; a row gets its config under "_config".

    `revision` is a commit hash that is known, or None where `fetch` has to resolve it into the lock file.
    """

    repository: str
    split: str
    columns: tuple[str, ...]
    licence: str
    configs: tuple[str, ...] = ("default",)
    revision: str | None = None


@dataclass(frozen=True)
class OriginalFile:
    """A file at a fixed address: `url` holds the commit; `sha256` is of the bytes, None where unknown."""

    name: str
    url: str
    sha256: str | None = None


@dataclass(frozen=True)
class FileSource:
    """Rows read by `read` from original files that lie in one folder of the originals."""

    folder: str
    files: tuple[OriginalFile, ...]
    read: Callable[[list[Path]], Iterable[Row]]
    columns: tuple[str, ...]
    licence: str


@dataclass(frozen=True)
class CredentialedSource:
    """Rows that only an accredited user may hold: read from a path that the config gives, never fetched."""

    read: Callable[[Path], Iterable[Row]]
    columns: tuple[str, ...]
    licence: str
    access: str


@dataclass(frozen=True)
class Filter:
    """A named reason to leave a row out; `keep` says whether the row stays."""

    name: str
    keep: Callable[[Row], bool]


@dataclass(frozen=True)
class Benchmark:
    """One benchmark. `fields(row, number)` gives the item's fields without `benchmark` and `prompt`;
    the prompt is the template `resources/prompts/{prompt}.txt` filled with them.

    `expected_rows` are the counts after the filters, by source revision ("*" for any).
    `macro_over` names a metadata field whose groups' plain mean is the benchmark's accuracy (MMLU).
    `stages` says which questions are put to a model: "likelihoods", "greedy".
    `truncation_side` is the side that loses tokens where a prompt exceeds the model's context.
    """

    name: str
    title: str
    task: str
    kind: str  # "multiple_choice" or "open"
    source: HubSource | FileSource | CredentialedSource
    fields: Callable[[Row, int], dict[str, Any]]
    expected_rows: Mapping[str, int]
    filters: tuple[Filter, ...] = ()
    prompt: str = ""
    stages: tuple[str, ...] = ()
    max_new_tokens: int = 256
    stop: tuple[str, ...] = ("\n\n",)
    truncation_side: str = "left"
    macro_over: str | None = None
    language: str = "en"
    notes: str = ""
    cite: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise ValueError(f"{self.name}: unknown task {self.task!r}")
        if self.kind not in ("multiple_choice", "open"):
            raise ValueError(f"{self.name}: unknown kind {self.kind!r}")
        default = ("likelihoods",) if self.kind == "multiple_choice" else ("likelihoods", "greedy")
        object.__setattr__(self, "stages", self.stages or default)
        object.__setattr__(self, "prompt", self.prompt or self.name)


@dataclass(frozen=True)
class Loaded:
    """A benchmark's items and the manifest that explains them."""

    items: list[Item]
    manifest: dict[str, Any]
