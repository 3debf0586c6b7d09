"""What a benchmark is: where its rows come from and how a row becomes an item."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
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


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class HubSource:
    """Rows of a Hub data set; those of several `configs` follow each other in their order.

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
    """A file at a fixed address: `url` holds the commit; `sha256` is of the bytes, None where unknown.

    `member` names the file, or the folder, inside the archive that lies at `url`; `sha256` is then of
    what is taken out (of a folder: `beyondqa.identity.directory_sha256`).
    """

    name: str
    url: str
    sha256: str | None = None
    member: str = ""


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
    """A named reason to leave rows out; `keep` passes on those that stay.

    A filter that only takes a part of a large source (`of_source`) does not apply to rows given by hand.
    """

    name: str
    keep: Callable[[Iterable[Row]], Iterable[Row]]
    of_source: bool = False


def where(name: str, stays: Callable[[Row], bool]) -> Filter:
    """The filter that keeps each row for which `stays` is true."""
    return Filter(name, lambda rows: (row for row in rows if stays(row)))


def first_tenth(rows: Iterable[Row]) -> Iterable[Row]:
    """The first int(0.1 n) of n rows, as the authors' tasks take them (lm-evaluation-harness, `olaph`)."""
    rows = list(rows)
    return rows[: int(0.1 * len(rows))]


@dataclass(frozen=True)
class Benchmark:
    """One benchmark. `fields(row)` gives the fields of its item without `id`, `benchmark` and `prompt`;
    `candidates` may be left out where they are the letters of the options. The prompt is the template
    `resources/prompts/{prompt}.txt` filled with the fields, the metadata, `choices` (the lettered options)
    and `option_list` (the options on one line).

    An item's id is the row's `id_column`, or a hash of its columns where the row has none.
    `prepare(rows, seed)` makes the rows that items come from, where one item needs several rows.
    `expected_rows` are the rows of the whole source before the filters, by revision ("*" for any);
    `groups` are metadata fields that the manifest counts, `expected_groups` the items by the joined
    values of all `groups`, " / " between them.
    `macro_over` names a metadata field whose groups' plain mean is the benchmark's accuracy (MMLU).
    `stages` says which questions are put to a model: "likelihoods", "greedy".
    `truncation_side` is the side that loses tokens where a prompt exceeds the model's context.
    `rows` names the file of hand-written rows in this benchmark's columns, where it is not the name.
    """

    name: str
    title: str
    task: str
    kind: str  # "multiple_choice" or "open"
    source: HubSource | FileSource | CredentialedSource
    fields: Callable[[Row], dict[str, Any]]
    expected_rows: Mapping[str, int] = field(default_factory=dict)
    expected_groups: Mapping[str, int] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    prepare: Callable[[Sequence[Row], int], Iterable[Row]] | None = None
    id_column: str = ""
    prompt: str = ""
    rows: str = ""
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
        object.__setattr__(self, "rows", self.rows or self.name)


@dataclass(frozen=True)
class Loaded:
    """A benchmark's items and the manifest that explains them."""

    items: list[Item]
    manifest: dict[str, Any]


def text(row: Row, column: str) -> str:
    """The column's text as it stands. Raises ValueError where it is no text or blank."""
    value = row[column]
    if not isinstance(value, str):
        raise ValueError(f"{column} is {'null' if value is None else f'no text but {value!r}'}")
    if not value.strip():
        raise ValueError(f"{column} is empty")
    return value


def whole_number(row: Row, column: str) -> int:
    """The column's whole number, which a CSV writes as digits. Raises ValueError where it is none."""
    value = row[column]
    if isinstance(value, str) and re.fullmatch(r"\d+", value.strip()):
        return int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{column} is {value!r}, not a whole number")
    return value


def texts(row: Row, column: str) -> tuple[str, ...]:
    """The column's list of texts. Raises ValueError where it is no such list."""
    values = row[column]
    if not isinstance(values, list | tuple) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"{column} is {values!r}, not a list of texts")
    return tuple(values)


def position(row: Row, column: str, labels: Sequence[str]) -> int:
    """Index of the column's label among `labels`. Raises ValueError where it is none of them."""
    label = text(row, column).strip()
    if label not in labels:
        raise ValueError(f"{column} is {label!r}, none of {', '.join(labels)}")
    return labels.index(label)


def lettered(options: Sequence[str]) -> str:
    """The options, at most 26, one a line, behind the letters A, B, ..."""
    return "\n".join(f"{LETTERS[index]}. {option}" for index, option in enumerate(options))


def present(row: Row, *columns: str) -> dict[str, Any]:
    """Those of the columns that the row has with a value: what the item's metadata takes over."""
    return {column: row[column] for column in columns if row.get(column) is not None}
