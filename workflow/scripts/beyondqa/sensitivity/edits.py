"""Edited texts as records. A file of them is the benchmark that metrics are scored on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from ..errors import StudyError
from ..items import Generation, OpenItem
from ..records import read_jsonl, write_jsonl
from ..scoring import is_blank
from .corruptions import KINDS, corrupted
from .entities import entities

if TYPE_CHECKING:
    import pandas as pd

# Texts of one benchmark and source, so that an encoder's time does not grow with the benchmark.
TEXTS = 200
# The text as it was: what an edit of it is compared with by hand, and what counts the texts.
ORIGINAL = "original"
SOURCES = ("reference", "recorded answer")


@dataclass(frozen=True, slots=True)
class Edit:
    """A text about one item, edited in one place: `text` is scored against `reference`, the item's own.

    `kind` is one of corruptions.KINDS, or ORIGINAL. `model` is whose answer the text was, "" where it was the
    reference.
    """

    benchmark: str
    item_id: str
    model: str
    kind: str
    text: str
    reference: str

    @property
    def source(self) -> str:
        """One of SOURCES."""
        return SOURCES[bool(self.model)]


def edits_of(items: Sequence[OpenItem], answers: Iterable[Generation]) -> list[Edit]:
    """Edits of one benchmark's references, and of the answers that other systems gave, at most TEXTS of each.

    Blank answers are left out, and so are all but the first answer of a model to an item. Another item's entities and
    text are those of the same benchmark and model, so that no text leaves its benchmark.
    """
    by_id = {item.id: item for item in items}
    references = {("", item.id): item.reference for item in items}
    first: dict[tuple[str, str], str] = {}
    for answer in answers:
        if answer.item_id in by_id and not is_blank(answer.text):
            first.setdefault((answer.model, answer.item_id), answer.text)
    return _edits(chosen(references), by_id) + _edits(chosen(first), by_id)


def chosen(texts: Mapping[tuple[str, str], str]) -> dict[str, dict[str, str]]:
    """Model -> item id -> text for at most TEXTS of the texts, by (model, item id), the same ones in any order."""
    by_digest = sorted(texts, key=lambda key: hashlib.sha256("\t".join(key).encode()).hexdigest())
    by_model: dict[str, dict[str, str]] = {}
    for model, item in sorted(by_digest[:TEXTS]):
        by_model.setdefault(model, {})[item] = texts[model, item]
    return by_model


def _edits(by_model: Mapping[str, Mapping[str, str]], items: Mapping[str, OpenItem]) -> list[Edit]:
    return [
        Edit(items[item].benchmark, item, model, kind, text, items[item].reference)
        for model, texts in by_model.items()
        for kind, edited in {ORIGINAL: texts, **corrupted(texts, entities(texts))}.items()
        for item, text in edited.items()
    ]


def write_edits(path: str | os.PathLike, edits: Iterable[Edit]) -> int:
    """Write one edit a line; returns how many."""
    return write_jsonl(path, map(asdict, edits))


def read_edits(paths: Iterable[str | os.PathLike]) -> list[Edit]:
    """Edits of several files. Raises StudyError naming file and line of one that is none."""
    found = []
    for path in paths:
        for number, fields in enumerate(read_jsonl(path), start=1):
            try:
                found.append(Edit(**fields))
            except TypeError as error:
                remedy = "Take a file that the rule corrupt_texts wrote"
                raise StudyError(f"is no edit ({error})", file=path, record=f"line {number}", remedy=remedy) from error
    return found


def applicability(edits: Sequence[Edit]) -> pd.DataFrame:
    """How many texts of each source an edit was applied to, and how many it cannot be applied to."""
    import pandas as pd

    rows = []
    for source in SOURCES:
        own = [edit for edit in edits if edit.source == source]
        total = sum(edit.kind == ORIGINAL for edit in own)
        counts = [(kind, sum(edit.kind == kind for edit in own)) for kind in KINDS]
        rows += [(source, kind, count, total - count) for kind, count in counts if total]
    return pd.DataFrame(rows, columns=["source", "kind", "n_texts", "n_not_applicable"])
