"""EntQA's USMLE sample questions, from the authors' records of one model's answers."""

from __future__ import annotations

import re
from pathlib import Path

from ._entqa import benchmark, index_of
from ._read import json_value
from .base import LETTERS, Benchmark, FileSource, OriginalFile, Row, text

_ADDRESS = "https://raw.githubusercontent.com/vkola-lab/pdig2026/6f0e4d8cc95d750977ffd6e079a33fae79f3f5c6/"
_OPTION = re.compile(r"^([A-Z])\. ?(.*?) *$", re.MULTILINE)


def options(block: str) -> tuple[str, ...]:
    """The options of a block of lettered lines. Raises ValueError where the letters have a gap."""
    found = _OPTION.findall(block)
    if "".join(letter for letter, _ in found) != LETTERS[: len(found)]:
        raise ValueError(f"option is {block!r}, not lines lettered A, B, ...")
    return tuple(option for _, option in found)


def _read(paths: list[Path]):
    return json_value(paths[0])


def _fields(row: Row) -> dict:
    return {
        "question": text(row, "background"),
        "options": options(text(row, "option")),
        "gold": index_of(row["ground_truth"]),
    }


def step(number: int, rows: int) -> Benchmark:
    """The benchmark of one step of the examination."""
    name = f"extracted_72B-Qwen25_USMLE_STEP_{number}.json"
    return benchmark(
        name=f"entqa_usmle_step{number}",
        title=f"USMLE Step {number} (EntQA)",
        source=FileSource(
            folder="usmle",
            files=(OriginalFile(name, f"{_ADDRESS}processed_data/72B-Qwen25/{name}"),),
            read=_read,
            columns=("background", "option", "ground_truth"),
            licence="CC-BY-4.0",
        ),
        fields=_fields,
        expected_rows={"*": rows},
        notes="Items as the authors' records hold them; the model's answers in the file are not read.",
        cite="EntQA, medRxiv 2025.11.12.25340106",
    )
