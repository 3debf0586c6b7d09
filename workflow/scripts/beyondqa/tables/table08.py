"""Paper 1, table 8: perplexity, clinical note-taking and medical factuality."""

from __future__ import annotations

from ._scores import PERPLEXITY, perplexities, scores_table

TABLE = scores_table(
    8,
    "perplexity_notes_factuality",
    "perplexity, clinical note-taking and medical factuality",
    PERPLEXITY,
    covers=lambda benchmark: benchmark.task in ("note_taking", "factuality"),
    families=("likelihood",),
    keep=perplexities,
)
