"""Paper 1, figure 10: metric by metric correlations on a benchmark, and the same for every other benchmark."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ..benchmarks.base import Benchmark
from ..statistics.inputs import Inputs, stand_in_label, stand_in_notes
from ..statistics.labels import metric_rank
from ._correlations import matrix_drawing
from .base import Drawing, Figure, explanation

if TYPE_CHECKING:
    from ..study import Study

# The benchmark of the paper's own figure.
MAIN = "medtext"


def draw(benchmark: str, inputs: Inputs) -> Drawing:
    """The matrix of the headline metrics on one benchmark."""
    import pandas as pd

    if benchmark not in inputs.benchmarks:
        return explanation(f"The benchmark {benchmark} is not in the study.")
    pairs = inputs.metric_correlations
    if not len(pairs):
        return explanation(f"No two metrics were scored on {inputs.title(benchmark)}.")
    sides = [pairs[[s, f"{s}_label", f"{s}_stand_in"]].set_axis(["metric", "label", "stand_in"], axis=1) for s in "ab"]
    known = pd.concat(sides).drop_duplicates("metric")
    known = known.sort_values("metric", key=lambda names: names.map(metric_rank))
    labels = {row.metric: stand_in_label(row.label, row.stand_in) for row in known.itertuples()}
    notes = stand_in_notes(dict(zip(known["label"], known["stand_in"], strict=True))) + inputs.twin_notes([benchmark])
    return matrix_drawing(
        pairs, labels, notes=[*notes, *inputs.benchmark_notes([benchmark]), *inputs.model_notes(inputs.models)]
    )


def sibling(subject: str, title: str) -> Figure:
    """The figure of one benchmark."""
    return _figure(f"figure10_{subject}", subject, title, subject=subject, subject_title=title)


def subjects(study: Study) -> dict[str, str]:
    """The other benchmarks with free-text answers."""
    return {name: b.title for name, b in study.benchmarks.items() if b.kind == "open" and name != MAIN}


def _figure(name: str, benchmark: str, title: str, **about: str) -> Figure:
    return Figure(
        name=name,
        slug=f"fig10_metric_correlations_{benchmark}",
        title=f"Figure 10: metric × metric, {title}",
        caption=(
            f"Pearson's r between the models' means on {title}. Perplexities enter as logarithms; no sign is "
            "changed, so that a metric whose lower values are better correlates negatively with one it agrees with."
        ),
        covers=functools.partial(_is, benchmark),
        needs=("metric_correlations", "means"),
        draw=functools.partial(draw, benchmark),
        **about,
    )


def _is(name: str, benchmark: Benchmark) -> bool:
    return benchmark.name == name


FIGURE = _figure("figure10", MAIN, "MedText")
