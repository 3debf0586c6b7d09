"""Paper 1, table 16: scores on CareQA-Open."""

from __future__ import annotations

from ._scores import OPEN_FAMILIES, scores_sheet
from .base import Table

TABLE = Table(
    name="table16",
    slug="table16_careqa_open",
    title="Table 16: CareQA-Open",
    caption="Means of the n-gram and semantic metrics over the items of CareQA-Open, greedy answers.",
    covers=lambda benchmark: benchmark.name == "careqa_open",
    families=OPEN_FAMILIES,
    build=lambda inputs: scores_sheet(inputs, families=OPEN_FAMILIES),
)
