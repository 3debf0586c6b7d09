"""Paper 1, table 14: diagnosis and treatment recommendations."""

from __future__ import annotations

from ._scores import ANSWERS, OPEN_FAMILIES, scores_table

TABLE = scores_table(
    14,
    "diagnosis_treatment",
    "diagnosis and treatment recommendations",
    ANSWERS,
    covers=lambda benchmark: benchmark.task == "diagnosis_treatment",
    families=OPEN_FAMILIES,
)
