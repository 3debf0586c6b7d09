"""Paper 1, table 12: Prometheus, summarization and clinical note-taking."""

from __future__ import annotations

from ._scores import JUDGE, scores_table

TABLE = scores_table(
    12,
    "prometheus_notes",
    "Prometheus, summarization and clinical note-taking",
    JUDGE,
    covers=lambda benchmark: benchmark.task in ("summarization", "note_taking"),
    families=("judge",),
)
