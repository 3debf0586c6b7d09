"""Paper 1, table 13: clinical note-taking."""

from __future__ import annotations

from ._scores import ANSWERS, OPEN_FAMILIES, scores_table

TABLE = scores_table(
    13,
    "note_taking",
    "clinical note-taking",
    ANSWERS,
    covers=lambda benchmark: benchmark.task == "note_taking",
    families=OPEN_FAMILIES,
)
