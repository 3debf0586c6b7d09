"""Paper 1, figure 1: weighted multiple choice accuracy against every other task and metric, smaller models."""

from __future__ import annotations

from ..statistics.inputs import Inputs
from ._against import against_drawing
from .base import Drawing, Figure


def draw(inputs: Inputs) -> Drawing:
    """The smaller models, none left out."""
    rows = inputs.accuracy_correlations
    if len(rows):
        rows = rows[(rows["models"] == "smaller") & (rows["left_out"] == "")]
        rows = rows.drop(columns=["models", "left_out"])
    return against_drawing(inputs, rows, of="weighted accuracy")


FIGURE = Figure(
    name="figure01",
    slug="fig01_accuracy_against_tasks",
    title="Figure 1: multiple choice accuracy against every other task and metric",
    caption=(
        "Pearson's r between the models' accuracy over the multiple choice benchmarks, weighted by their numbers of "
        "questions, and each metric of each other task; models of at most 15 billion parameters. Perplexities enter as "
        "logarithms with their sign changed, so that a positive r always means that better goes with better."
    ),
    covers=lambda benchmark: benchmark.task not in ("multiple_choice", "entqa"),
    needs=("accuracy_correlations",),
    draw=draw,
)
