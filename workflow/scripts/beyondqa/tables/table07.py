"""Paper 1, table 7: perplexity, open-ended medical questions."""

from __future__ import annotations

from ._scores import PERPLEXITY, perplexities, scores_table

TABLE = scores_table(
    7,
    "perplexity_open_questions",
    "perplexity, open-ended medical questions",
    PERPLEXITY,
    covers=lambda benchmark: benchmark.task == "open_questions",
    families=("likelihood",),
    keep=perplexities,
)
