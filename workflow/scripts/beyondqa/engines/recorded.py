"""Answers from elsewhere, read from files: everything after generation runs on them."""

from __future__ import annotations

import gzip
import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import StudyError
from ..items import Generation, Item
from .base import Engine

SEMANTICS = 1

log = logging.getLogger("beyondqa")


def load(entry: Mapping[str, Any]) -> Engine:
    """Refuses: recorded predictions answer no request that they were not recorded for."""
    raise StudyError(
        "recorded predictions cannot be asked anything", record=entry["name"], remedy="Take its answers from its files"
    )


def answers(
    entry: Mapping[str, Any], items: Sequence[Item], benchmark: str, *, variant: str = "greedy"
) -> list[Generation]:
    """The recorded answers to the items of one benchmark, item by item.

    `entry["predictions"][benchmark]` has `path` (.csv, .jsonl, .json, each also .gz), the columns `id` and `text`,
    and may have `index` (a column of whole numbers that tells several answers to one item apart), `join` (what
    the ids are matched with: "id" or a metadata field of the items) and `allow_missing`. With `variant` "sample"
    all answers to an item come, counted from 0 in the order of `index`; otherwise the first one. An empty text is
    an answer, a JSON null is none. Predictions of other items are counted in the log.

    Raises StudyError where the file, a column, or an item's answer is missing, where two predictions are for
    the same item and index, or where two items have the same value of the join field.
    """
    settings = entry["predictions"].get(benchmark)
    if settings is None:
        raise StudyError(
            f"has no predictions for {benchmark}", record=entry["name"], remedy="Name their file in the config"
        )
    path = Path(settings["path"])
    by_id = _by_id(_read(path), settings, path)
    ids = _join_values(items, settings.get("join", "id"), path)
    if unmatched := sorted(by_id.keys() - set(ids)):
        log.warning("%s: %d predictions are for no item here: %s", path, len(unmatched), ", ".join(unmatched[:10]))
    missing = [item.id for item, value in zip(items, ids, strict=True) if value not in by_id]
    if missing and not settings.get("allow_missing"):
        raise StudyError(
            f"{len(missing)} of {len(items)} items have no prediction",
            file=path,
            record=missing[0],
            remedy="Complete the file, or allow it with allow_missing: true",
        )
    return [
        Generation(item.id, benchmark, entry["name"], variant, index, text, "recorded")
        for item, value in zip(items, ids, strict=True)
        for index, text in enumerate(by_id.get(value, [])[: None if variant == "sample" else 1])
    ]


def _by_id(rows: Iterable[Mapping[str, Any]], settings: Mapping[str, Any], path: Path) -> dict[str, list[str]]:
    """Texts by id, in the order of their index."""
    found: dict[str, dict[int, str]] = {}
    for number, row in enumerate(rows, start=1):
        identifier = str(_cell(row, settings["id"], path, number))
        index = _whole(_cell(row, settings["index"], path, number), path, identifier) if "index" in settings else 0
        text = _cell(row, settings["text"], path, number)
        if text is None:
            continue
        if not isinstance(text, str):
            raise StudyError(f"the prediction is no text but {text!r}", file=path, record=identifier)
        if index in found.setdefault(identifier, {}):
            raise StudyError(
                "two predictions are for this item",
                file=path,
                record=identifier,
                remedy="Keep one, or name the column that counts them as index",
            )
        found[identifier][index] = text
    return {identifier: [texts[i] for i in sorted(texts)] for identifier, texts in found.items()}


def _cell(row: Mapping[str, Any], column: str, path: Path, number: int) -> Any:
    if column not in row:
        raise StudyError(
            f"there is no column {column!r}",
            file=path,
            record=f"row {number}",
            remedy=f"Its columns are: {', '.join(map(str, row))}",
        )
    return row[column]


def _whole(value: Any, path: Path, identifier: str) -> int:
    try:
        return int(value)
    except (TypeError, ValueError) as error:
        raise StudyError(f"the index {value!r} is no whole number", file=path, record=identifier) from error


def _join_values(items: Sequence[Item], field: str, path: Path) -> list[str]:
    owners: dict[str, str] = {}
    for item in items:
        if field != "id" and field not in item.metadata:
            raise StudyError(
                f"the item has no {field!r} to match predictions with",
                file=path,
                record=item.id,
                remedy=f"Join on one of: id, {', '.join(item.metadata)}",
            )
        value = item.id if field == "id" else str(item.metadata[field])
        if value in owners:
            raise StudyError(
                f"items {owners[value]} and {item.id} have the same {field} {value!r}",
                file=path,
                remedy="Join on a field that tells them apart",
            )
        owners[value] = item.id
    return list(owners)


def _read(path: Path) -> Iterator[Mapping[str, Any]]:
    kind = path.name.removesuffix(".gz").rpartition(".")[2]
    readers = {"csv": _read_csv, "jsonl": _read_jsonl, "json": _read_json}
    if kind not in readers:
        raise StudyError(
            "is of an unknown kind", file=path, remedy="Give a .csv, .jsonl or .json file, or one of them .gz"
        )
    try:
        yield from readers[kind](path)
    except (OSError, EOFError, ValueError) as error:
        raise StudyError(str(error), file=path, remedy="Remake the file or correct its path") from error


def _read_csv(path: Path) -> Iterator[Mapping[str, Any]]:
    import pandas as pd

    # Every cell stays the text that it is: "NA", "None" and "null" are answers, and ids keep their zeros.
    frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    return iter(frame.to_dict("records"))


def _read_jsonl(path: Path) -> Iterator[Mapping[str, Any]]:
    with _open(path) as file:
        for line in file:
            if line.strip():
                yield json.loads(line.decode("utf-8"))


def _read_json(path: Path) -> Iterator[Mapping[str, Any]]:
    with _open(path) as file:
        rows = json.loads(file.read().decode("utf-8-sig"))
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError("is no list of JSON objects")
    return iter(rows)


def _open(path: Path):
    return gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")
