"""Paper 1, figure 13: resilience of the metrics to rephrasing, over all models."""

from __future__ import annotations

from ._dispersion import dispersion_drawing
from .base import Figure

CAPTION = (
    "Variance of each metric over rephrasings of the same answer (the answer itself included) to MEDIQA2019 "
    "questions, divided by the squared range of the metric over all answers and models; a box spans the questions. "
    "The CSV holds the other readings of the paper's scaling under their own names."
)


def covers(benchmark) -> bool:
    """The benchmark of the paper's resilience experiment."""
    return benchmark.name == "mediqa2019"


FIGURE = Figure(
    name="figure13",
    slug="fig13_resilience",
    title="Figure 13: resilience to rephrasing, all models",
    caption=CAPTION,
    covers=covers,
    needs=("resilience",),
    draw=lambda inputs: dispersion_drawing(inputs, "resilience", ["variance_by_squared_range"]),
)
