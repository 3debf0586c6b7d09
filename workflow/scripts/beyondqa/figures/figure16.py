"""Paper 1, figure 16: coefficient of variation over repeated samples."""

from __future__ import annotations

from ._dispersion import dispersion_drawing
from .base import Figure

FIGURE = Figure(
    name="figure16",
    slug="fig16_coefficient_of_variation",
    title="Figure 16: coefficient of variation, self-consistency, CareQA-Open",
    caption=(
        "Standard deviation (of the population) of each metric over repeated samples of the same question, divided "
        "by their mean, averaged over models; a box spans the questions. It depends on where a metric's zero lies: "
        "compare metrics that start at zero, not BERTScore or a 1-5 scale with them. Metrics that take values of "
        "either sign (BLEURT) have none."
    ),
    covers=lambda benchmark: benchmark.name == "careqa_open",
    needs=("self_consistency",),
    draw=lambda inputs: dispersion_drawing(inputs, ["self_consistency"], ["coefficient_of_variation"]),
)
