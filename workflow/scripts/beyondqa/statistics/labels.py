"""Short names of models, and the order in which metrics are shown."""

from __future__ import annotations

import csv
import functools
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

_TABLE = Path(__file__).resolve().parents[4] / "resources" / "model_labels.csv"
_SUFFIX = re.compile(r"-(instruct|chat|it|hf)\b", re.IGNORECASE)


def model_labels(names: Iterable[str]) -> dict[str, str]:
    """Short names by model: from resources/model_labels.csv, else without "-Instruct" and the like. Models whose short
    names would be the same keep their full ones."""
    short = {name: _table().get(name) or _SUFFIX.sub("", name) or name for name in names}
    counts = Counter(short.values())
    return {name: label if counts[label] == 1 else name for name, label in short.items()}


def metric_rank(name: str) -> tuple[int, str]:
    """Where a metric stands among others: n-gram overlap, semantic, judges, perplexities, length last."""
    known = [prefix for prefix in _METRIC_ORDER if name.startswith(prefix)]
    # The longest, since "bleu" begins "bleurt" too.
    return (_METRIC_ORDER.index(max(known, key=len)) if known else len(_METRIC_ORDER) - 1, name)


_METRIC_ORDER = (
    "accuracy",
    "bleu",
    "rouge",
    "meteor",
    "bertscore",
    "moverscore",
    "bleurt",
    "f1_radgraph",
    "judge",
    "word_perplexity",
    "byte_perplexity",
    "bits_per_byte",
    "relaxed",
    "entqa",
    "length",
)


@functools.lru_cache(maxsize=1)
def _table() -> dict[str, str]:
    with open(_TABLE, encoding="utf-8", newline="") as file:
        return {row["model"]: row["label"] for row in csv.DictReader(file)}
