"""Clusters of metrics on a benchmark, and how often two metrics fall into one with other models."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ..statistics.inputs import Inputs, stand_in_label, stand_in_notes
from ..statistics.labels import metric_rank
from ._correlations import reasons_of
from ._style import grid, share_grid
from .base import Drawing, Figure, explanation

if TYPE_CHECKING:
    from ..benchmarks.base import Benchmark
    from ..study import Study

MAIN = "medtext"


def draw(benchmark: str, inputs: Inputs) -> Drawing:
    """The co-clustering matrix, metrics of one cluster beside each other."""
    import pandas as pd

    if benchmark not in inputs.benchmarks:
        return explanation(f"The benchmark {benchmark} is not in the study.")
    pairs = inputs.clusters
    drawn = pairs[pairs["together"].notna()] if len(pairs) else pairs
    if not len(drawn):
        reasons = "; ".join(reasons_of(pairs)) if len(pairs) else "no scores"
        return explanation(f"No clusters can be drawn on {inputs.title(benchmark)}: {reasons}.")
    names = ["metric", "cluster", "label", "stand_in"]
    sides = [drawn[[s, f"cluster_{s}", f"{s}_label", f"{s}_stand_in"]].set_axis(names, axis=1) for s in "ab"]
    known = pd.concat(sides).drop_duplicates("metric").set_index("metric")
    cluster = known["cluster"].astype(int)
    order = sorted(cluster.index, key=lambda name: (cluster[name], metric_rank(name)))
    shares = pd.DataFrame(float("nan"), index=order, columns=order)
    for row in drawn.itertuples():
        shares.at[row.a, row.b] = shares.at[row.b, row.a] = row.together
    labels = [f"{stand_in_label(*known.loc[name, ['label', 'stand_in']])} ({cluster[name]})" for name in order]
    shown = shares.set_axis(labels).set_axis(labels, axis=1)
    picture, axes = grid(shown)
    share_grid(axes, shown, "Share of draws in one cluster")
    first = drawn.iloc[0]
    notes = (
        f"{first['n_draws']} bootstrap draws of {first['n_models']} models. In brackets: the cluster with all models.",
        *stand_in_notes(dict(zip(known["label"], known["stand_in"], strict=True))),
        *inputs.model_notes(list(inputs.models)),
        *inputs.benchmark_notes([benchmark]),
    )
    return Drawing(picture, drawn.reset_index(drop=True), notes)


def _figure(name: str, benchmark: str, title: str, **about: str) -> Figure:
    return Figure(
        name=name,
        slug=f"clusters_{benchmark}",
        title=f"Clusters of metrics, {title}",
        caption=(
            f"Metrics on {title} in three clusters by average linkage on 1 - r (Pearson's r over models); cells: how "
            "often two metrics fall into one cluster when the models are drawn again with replacement."
        ),
        covers=functools.partial(_is, benchmark),
        needs=("clusters",),
        draw=functools.partial(draw, benchmark),
        **about,
    )


def _is(name: str, benchmark: Benchmark) -> bool:
    return benchmark.name == name


FIGURE = _figure("clusters", MAIN, "MedText")


def subjects(study: Study) -> dict[str, str]:
    """The other benchmarks with free-text answers."""
    return {name: b.title for name, b in study.benchmarks.items() if b.kind == "open" and name != MAIN}


def sibling(subject: str, title: str) -> Figure:
    """The figure of one benchmark."""
    return _figure(f"clusters_{subject}", subject, title, subject=subject, subject_title=title)
