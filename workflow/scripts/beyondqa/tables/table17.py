"""Paper 1, table 17: open-ended medical questions."""

from __future__ import annotations

from ._scores import ANSWERS, OPEN_FAMILIES, scores_table

TABLE = scores_table(
    17,
    "open_questions",
    "open-ended medical questions",
    ANSWERS,
    covers=lambda benchmark: benchmark.task == "open_questions" and benchmark.name != "careqa_open",
    families=OPEN_FAMILIES,
)
