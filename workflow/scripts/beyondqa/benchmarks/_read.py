"""Readers of original files. Each raises ValueError on a file that is not whole or not what it should be."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ..records import read_jsonl

# The longest transcriptions exceed the csv module's default limit of 131,072 characters.
csv.field_size_limit(2**24)


def refuse_html(path: Path) -> None:
    """Raise ValueError where the file is a web page: the usual trace of a failed download."""
    with open(path, "rb") as file:
        start = file.read(512).removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html")):
        raise ValueError("is a web page, not data")


def csv_rows(path: Path) -> Iterator[dict[str, str]]:
    """Rows of a CSV with a header. Every cell stays the string that it is, "NA" and "" too.

    Windows line ends become newlines, inside cells too, so that prompts and ids do not depend on them.
    """
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            header = next(reader)
        except StopIteration:
            raise ValueError("is empty") from None
        except csv.Error as error:
            raise ValueError(f"line 1: {error}") from error
        while True:
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise ValueError(f"line {reader.line_num}: {error}") from error
            if not cells:
                continue
            if len(cells) != len(header):
                raise ValueError(f"line {reader.line_num}: has {len(cells)} cells, the header {len(header)}")
            yield {name: cell.replace("\r\n", "\n") for name, cell in zip(header, cells, strict=True)}


def json_value(path: Path) -> Any:
    """The value of a JSON file, with or without a byte order mark."""
    return json.loads(path.read_text(encoding="utf-8-sig"))


def xml_root(path: Path) -> ElementTree.Element:
    """The root element of an XML file."""
    try:
        return ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise ValueError(f"not whole XML ({error})") from error


def table_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Rows of a CSV, JSONL or Parquet file, told apart by its ending."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        for batch in pq.ParquetFile(path).iter_batches():
            yield from batch.to_pylist()
    elif path.suffix == ".jsonl":
        yield from read_jsonl(path)
    elif path.suffix == ".csv":
        yield from csv_rows(path)
    else:
        raise ValueError(f"ends in {path.suffix!r}; it may be a .csv, .jsonl or .parquet file")
