"""Paper 1, table 17: scores on the open-ended medical questions other than CareQA-Open."""

from __future__ import annotations

from ._scores import OPEN_FAMILIES, scores_sheet
from .base import Table

TABLE = Table(
    name="table17",
    slug="table17_open_questions",
    title="Table 17: open-ended medical questions",
    caption="Means of the n-gram and semantic metrics over the items of each benchmark, greedy answers.",
    covers=lambda benchmark: benchmark.task == "open_questions" and benchmark.name != "careqa_open",
    families=OPEN_FAMILIES,
    build=lambda inputs: scores_sheet(inputs, families=OPEN_FAMILIES),
)
