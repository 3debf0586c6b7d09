"""Paper 1, figure 6: CareQA-Open by category and year."""

from __future__ import annotations

from ..statistics.careqa import OPEN
from ._careqa import counts_drawing
from .base import Figure

FIGURE = Figure(
    name="figure06",
    slug="fig06_careqa_open_categories",
    title="Figure 6: CareQA-Open by category and year",
    caption="Open questions by the examination (category) and year of the closed question that they were made from.",
    covers=lambda benchmark: benchmark.name in OPEN,
    needs=("careqa",),
    draw=lambda inputs: counts_drawing(inputs, OPEN, "The study has no items of CareQA-Open."),
)
