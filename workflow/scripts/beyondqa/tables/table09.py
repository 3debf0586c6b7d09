"""Paper 1, table 9: perplexity, diagnosis and treatment, question entailment, summarization."""

from __future__ import annotations

from ._scores import PERPLEXITY, perplexities, scores_table

TABLE = scores_table(
    9,
    "perplexity_other_tasks",
    "perplexity, diagnosis and treatment, question entailment, summarization",
    PERPLEXITY,
    covers=lambda benchmark: benchmark.task in ("diagnosis_treatment", "question_entailment", "summarization"),
    families=("likelihood",),
    keep=perplexities,
)
