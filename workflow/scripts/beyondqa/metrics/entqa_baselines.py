"""The metrics that EntQA's paper sets beside it: the explanation against the question that was put.

The paper's code compares with the question sentence as its splitter cuts it, neither with the background nor
with a right answer, which its text does not say. It explains why these metrics fall where answers are better.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..entqa.scoring import Record, case_texts, new_score, read_records
from ..entqa.variants import AS_CODED
from ..items import Generation, Item, Score
from ..registry import suggestion
from ..scoring import Column, score_pairs
from . import describe, module, names
from .base import Metric

FAMILY = "entqa_baselines"
ENVIRONMENT = "entqa"
INPUT = "answers"
TASKS = ("entqa",)


def metrics(settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    """The metrics of the modules that `settings` names, each with its own settings; "question" joins their names."""
    return tuple(dataclasses.replace(metric, name=_name(name)) for name, metric in describe(settings).items())


def faults(settings: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the settings that a config gives, a sentence each."""
    compared = [name for name in names() if hasattr(module(name), "values")]
    for name in settings.keys() - set(compared):
        yield f"names {name!r}, which compares no answer with a text. {suggestion(name, compared)}"


def scores(
    items: Mapping[str, Item], generations: Iterable[Generation], settings: Mapping[str, Any], *, threads: int = 1
) -> tuple[list[Score], dict[str, Any]]:
    """Scores of the explanations and the modules' signatures; a missing explanation gets the metric's floor
    and the flag "empty"."""
    records = read_records(items, generations)
    texts = [case_texts(record, AS_CODED) for record in records]
    pairs = [(explanation, question) for _, question, explanation in texts]
    rows = {pair: row for row, pair in enumerate(dict.fromkeys(pairs))}
    columns, signatures = score_pairs(list(rows), settings, threads=threads)
    return list(_scores(records, [rows[pair] for pair in pairs], columns)), signatures


def _scores(records: Sequence[Record], rows: Sequence[int], columns: Mapping[str, Column]) -> Iterator[Score]:
    for name, column in columns.items():
        for record, row in zip(records, rows, strict=True):
            value = column.values[row]
            reason = column.reasons[row] if value is None else ""
            yield new_score(record, _name(name), value, reason, ("truncated",) * (row in column.truncated))


def _name(name: str) -> str:
    return f"{name.removesuffix(']')},question]"
