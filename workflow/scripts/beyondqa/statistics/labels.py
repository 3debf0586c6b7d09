"""Short names of models: one table, and a rule for models that are not in it."""

from __future__ import annotations

import csv
import functools
import re
from pathlib import Path

_TABLE = Path(__file__).resolve().parents[4] / "resources" / "model_labels.csv"
_SUFFIX = re.compile(r"-(instruct|chat|it|hf)\b", re.IGNORECASE)


def model_label(name: str) -> str:
    """The short name of a model: from resources/model_labels.csv, else without "-Instruct" and the like."""
    return _table().get(name) or _SUFFIX.sub("", name) or name


@functools.lru_cache(maxsize=1)
def _table() -> dict[str, str]:
    with open(_TABLE, encoding="utf-8", newline="") as file:
        return {row["model"]: row["label"] for row in csv.DictReader(file)}
