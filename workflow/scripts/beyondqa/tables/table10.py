"""Paper 1, table 10: Relaxed Perplexity, medical factuality."""

from __future__ import annotations

from ._scores import scores_table

TABLE = scores_table(
    10,
    "relaxed_perplexity",
    "Relaxed Perplexity, medical factuality",
    (
        "Relaxed Perplexity of the statements that an answer must have and of those that are nice to have, "
        "averaged within a question, then over questions."
    ),
    covers=lambda benchmark: benchmark.task == "factuality",
    families=("relaxed",),
)
