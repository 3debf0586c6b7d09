"""Paper 1, table 18: question entailment."""

from __future__ import annotations

from ._scores import ANSWERS, OPEN_FAMILIES, scores_table

TABLE = scores_table(
    18,
    "question_entailment",
    "question entailment",
    ANSWERS,
    covers=lambda benchmark: benchmark.task == "question_entailment",
    families=OPEN_FAMILIES,
)
