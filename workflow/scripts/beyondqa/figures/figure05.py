"""Paper 1, figure 5: CareQA by category and year."""

from __future__ import annotations

from ..statistics.careqa import CLOSED
from ._careqa import counts_drawing
from .base import Figure

FIGURE = Figure(
    name="figure05",
    slug="fig05_careqa_categories",
    title="Figure 5: CareQA by category and year",
    caption="Closed questions of each examination (category) and the year in which it was held.",
    covers=lambda benchmark: benchmark.name == CLOSED,
    needs=("careqa",),
    draw=lambda inputs: counts_drawing(inputs, [CLOSED], "The study has no items of CareQA."),
)
