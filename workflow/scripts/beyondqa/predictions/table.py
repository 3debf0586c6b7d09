"""CSV, JSONL and JSON files with a row an answer, in columns that the config names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ..errors import StudyError
from ._files import REMEDY, json_lines, json_value, readable, suffix
from .base import Answer, as_list, identifier

HOLDS = ("answers",)
KEYS = ("text", "index", "model", "model_value")
REQUIRED = ("id", "text")

Rows = Iterable[tuple[str, Mapping[str, Any]]]


def read(path: Path, settings: Mapping[str, Any], holds: str) -> Iterator[Answer]:
    """The answers of the file's rows, or of those rows whose `model` column holds `model_value`.

    The columns `id` and `text` hold the identifier and the answer; `index` a whole number that counts several
    answers to one item. A text that is a JSON list is several answers; an empty text is an answer, null is none.
    Raises StudyError naming file and row for a missing column or a cell of another type, and where no row is
    the model's.
    """
    others: dict[str, None] = {}
    own = 0
    for place, row in _rows(path):
        if "model" in settings:
            named = str(_cell(row, settings["model"], path, place))
            if named != settings["model_value"]:
                others[named] = None
                continue
        own += 1
        found = identifier(_cell(row, column, path, place) for column in as_list(settings["id"]))
        index = _whole(_cell(row, settings["index"], path, place), path, place) if "index" in settings else 0
        cell = _cell(row, settings["text"], path, place)
        for position, text in enumerate(cell if isinstance(cell, list) else [cell]):
            if text is not None and not isinstance(text, str):
                raise StudyError(f"the prediction is no text but {text!r}", file=path, record=place)
            yield Answer(found, (index, position), text)
    if others and not own:
        raise StudyError(
            f"no row is of the model {settings['model_value']!r}",
            file=path,
            remedy=f"Name one of these as model_value: {', '.join(list(others)[:10])}",
        )


def _cell(row: Mapping[str, Any], column: str, path: Path, place: str) -> Any:
    if column not in row:
        raise StudyError(
            f"there is no column {column!r}",
            file=path,
            record=place,
            remedy=f"Its columns are: {', '.join(map(str, row))}",
        )
    return row[column]


def _whole(value: Any, path: Path, place: str) -> int:
    try:
        return int(value)
    except (TypeError, ValueError) as error:
        raise StudyError(f"the index {value!r} is no whole number", file=path, record=place) from error


def _rows(path: Path) -> Rows:
    readers = {"csv": _csv, "jsonl": _jsonl, "json": _json}
    if suffix(path) not in readers:
        raise StudyError(
            "is of an unknown kind", file=path, remedy="Give a .csv, .jsonl or .json file, or one of them .gz"
        )
    for place, row in readers[suffix(path)](path):
        if not isinstance(row, dict):
            raise StudyError(f"is no object with columns but {row!r}"[:200], file=path, record=place)
        yield place, row


def _csv(path: Path) -> Rows:
    import pandas as pd

    with readable(path):
        # Every cell stays the text that it is: "NA", "None" and "null" are answers, and ids keep their zeros.
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
    return ((f"row {number}", row) for number, row in enumerate(frame.to_dict("records"), start=1))


def _jsonl(path: Path) -> Rows:
    return ((f"line {number}", row) for number, row in json_lines(path))


def _json(path: Path) -> Rows:
    rows = json_value(path)
    if not isinstance(rows, list):
        raise StudyError("is no list of JSON objects", file=path, remedy=REMEDY)
    return ((f"object {number}", row) for number, row in enumerate(rows, start=1))
