"""Paper 1, figure 17: Relaxed Perplexity on OLAPH against the other benchmarks."""

from __future__ import annotations

from ..relaxed_perplexity import one_signature, signature_of
from ..statistics.against import against
from ..statistics.inputs import Inputs
from ..statistics.matrices import comparable
from ._against import against_drawing
from .base import Drawing, Figure, explanation

BENCHMARK = "olaph"
METRIC = "relaxed_perplexity"


def draw(inputs: Inputs) -> Drawing:
    """The headline Relaxed Perplexity of OLAPH against every metric of every other benchmark."""
    means = inputs.means
    own = means[means["metric"].str.startswith(METRIC) & (means["benchmark"] == BENCHMARK)] if len(means) else means
    own = own[own["headline"].astype(bool)] if len(own) else own
    if not len(own):
        return explanation("Relaxed Perplexity was not computed on OLAPH in this study.")
    one_signature(map(signature_of, own["metric"]))
    own = own[own["metric"] == own["metric"].iloc[0]]
    values = comparable(own, oriented=True).set_axis(own["model"])
    rows = against(values, means[means["benchmark"] != BENCHMARK])
    return against_drawing(inputs, rows, of="Relaxed Perplexity", notes=[f"Metric: {own['metric'].iloc[0]}."])


FIGURE = Figure(
    name="figure17",
    slug="fig17_relaxed_perplexity",
    title="Figure 17: Relaxed Perplexity on OLAPH against the other benchmarks",
    caption=(
        "Pearson's r between the models' Relaxed Perplexity on OLAPH and each metric of the other tasks. Perplexities "
        "enter as logarithms with their sign changed, so that a positive r always means that better goes with better."
    ),
    covers=lambda benchmark: benchmark.task != "entqa",
    needs=("means",),
    draw=draw,
)
