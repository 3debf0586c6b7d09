"""Paper 1, table 15: medical factuality."""

from __future__ import annotations

from ._scores import ANSWERS, OPEN_FAMILIES, scores_table

TABLE = scores_table(
    15,
    "factuality",
    "medical factuality",
    ANSWERS,
    covers=lambda benchmark: benchmark.task == "factuality",
    families=OPEN_FAMILIES,
)
