"""Paper 1, figure 2: self-consistency of the metrics on CareQA-Open."""

from __future__ import annotations

from ._dispersion import dispersion_drawing
from .base import Figure

FIGURE = Figure(
    name="figure02",
    slug="fig02_self_consistency",
    title="Figure 2: self-consistency, CareQA-Open",
    caption=(
        "Population variance of each metric over repeated samples of the same question, averaged over models; "
        "a box spans the questions. Left: as the paper has it, in each metric's own squared unit, on a "
        "logarithmic axis. Right: divided by the squared range of the metric over all answers, which makes "
        "metrics comparable. Perplexities score the reference alone, so their variance is zero by construction "
        "and they are not drawn."
    ),
    covers=lambda benchmark: benchmark.name == "careqa_open",
    needs=("self_consistency",),
    draw=lambda inputs: dispersion_drawing(
        inputs, ["self_consistency"], ["variance", "variance_by_squared_range"], logarithmic=True
    ),
)
