"""The metrics that the paper sets beside EntQA: the explanation against the question that was put.

The paper's code compares with the question sentence as its splitter cuts it, neither with the background
nor with a right answer, which its text does not say. It explains why these metrics fall with better answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..items import Score
from ..scoring import score_pairs
from .scoring import Record, case_texts, new_score, record_flags
from .variants import AS_CODED


def scores(
    records: Sequence[Record], modules: Mapping[str, Any], names: Mapping[str, str], *, threads: int = 1
) -> Iterator[Score]:
    """Scores of the metric modules, `names` giving each metric's name here. A missing explanation gets its floor."""
    pairs = [(explanation, question) for _, question, explanation in (case_texts(r, AS_CODED) for r in records)]
    distinct = list(dict.fromkeys(pairs))
    columns, _ = score_pairs(distinct, modules, threads=threads)
    rows = {pair: row for row, pair in enumerate(distinct)}
    for name, column in columns.items():
        for record, pair in zip(records, pairs, strict=True):
            row = rows[pair]
            value = column.values[row]
            flags = record_flags(record) + ("truncated",) * (row in column.truncated)
            yield new_score(record, names[name], value, flags, column.reasons[row] if value is None else "")
