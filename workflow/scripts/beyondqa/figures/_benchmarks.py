"""Benchmark by benchmark correlations of one metric."""

from __future__ import annotations

import functools
import re

from ..statistics.inputs import Inputs, stand_in_notes
from ._correlations import matrix_drawing
from .base import Drawing, Figure, explanation


def benchmarks_figure(
    number: int, metric: str, title: str, *, families: tuple[str, ...] = (), sibling: bool = False
) -> Figure:
    """The figure of one metric; `metric` is the `metric_slug` of its name, or the start of it."""
    name = f"figure{number:02}"
    return Figure(
        name=f"{name}_{metric}" if sibling else name,
        slug=f"fig{number:02}_benchmark_correlations_{metric}",
        title=f"Figure {number}: {title} across benchmarks",
        caption=(
            f"Pearson's r between the models' means of {title} on two benchmarks. Perplexities enter as logarithms; "
            "between two benchmarks of one metric no sign changes."
        ),
        covers=lambda benchmark: benchmark.task != "entqa",
        needs=("benchmark_correlations",),
        families=families,
        draw=functools.partial(draw, metric, title),
        subject=metric if sibling else "",
        subject_title=title if sibling else "",
    )


def draw(metric: str, title: str, inputs: Inputs) -> Drawing:
    """The matrix of one metric over the covered benchmarks."""
    pairs = inputs.benchmark_correlations
    if len(pairs):
        slugs = pairs["metric"].map(metric_slug)
        exact = pairs[slugs == metric]
        pairs = exact if len(exact) else pairs[slugs.str.startswith(metric)]
        pairs = pairs[pairs["metric"] == pairs["metric"].iloc[0]] if len(pairs) else pairs
    if not len(pairs):
        return explanation(f"{title} was not scored on two benchmarks.")
    present = {*pairs["a"], *pairs["b"]}
    labels = {name: inputs.benchmarks[name]["title"] for name in inputs.benchmarks if name in present}
    first = pairs.iloc[0]
    notes = [f"Metric: {first['metric']}.", *stand_in_notes({first["label"]: first["stand_in"]})]
    notes += inputs.model_notes(list(inputs.models)) + inputs.benchmark_notes(list(labels))
    return matrix_drawing(pairs, labels, notes=notes)


def metric_slug(name: str) -> str:
    """A metric's name as it can stand in a file name."""
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
