"""Paper 1, table 19: summarization."""

from __future__ import annotations

from ._scores import ANSWERS, OPEN_FAMILIES, scores_table

TABLE = scores_table(
    19,
    "summarization",
    "summarization",
    ANSWERS,
    covers=lambda benchmark: benchmark.task == "summarization",
    families=(*OPEN_FAMILIES, "radgraph"),
)
