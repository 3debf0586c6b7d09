"""Paper 1, table 11: Prometheus, question entailment, open-ended medical questions, treatment recommendations."""

from __future__ import annotations

from ._scores import JUDGE, scores_table

TABLE = scores_table(
    11,
    "prometheus_questions",
    "Prometheus, question entailment, open-ended medical questions, treatment recommendations",
    JUDGE,
    covers=lambda benchmark: benchmark.task in ("question_entailment", "open_questions", "diagnosis_treatment"),
    families=("judge",),
)
