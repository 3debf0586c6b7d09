"""Opening files of predictions, gzipped or not, with errors that name the file and the line."""

from __future__ import annotations

import contextlib
import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import StudyError

REMEDY = "Remake the file or correct its path"


def suffix(path: Path) -> str:
    """What kind of file it is: the ending without the dot, and without .gz."""
    return path.name.removesuffix(".gz").rpartition(".")[2]


def json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Line numbers and values of a JSONL file, blank lines left out."""
    with readable(path), _open(path) as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                with readable(path, f"line {number}"):
                    value = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
                yield number, value


def json_value(path: Path) -> Any:
    """The one value of a JSON file."""
    with readable(path), _open(path) as file:
        return json.loads(file.read().decode("utf-8-sig"))


@contextlib.contextmanager
def readable(path: Path, record: str | None = None) -> Iterator[None]:
    """Whatever is wrong with a file's bytes becomes a StudyError that names it."""
    try:
        yield
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise StudyError(str(error), file=path, record=record, remedy=REMEDY) from error


def _open(path: Path):
    return gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")
