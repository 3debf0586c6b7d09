"""Paper 1, table 16: CareQA-Open."""

from __future__ import annotations

from ._scores import ANSWERS, OPEN_FAMILIES, scores_table

TABLE = scores_table(
    16,
    "careqa_open",
    "CareQA-Open",
    ANSWERS,
    covers=lambda benchmark: benchmark.name == "careqa_open",
    families=OPEN_FAMILIES,
)
