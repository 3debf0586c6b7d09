"""Paper 1, figure 18: ranks of the models by metric on OLAPH, and the same for every other benchmark."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ..statistics.inputs import Inputs, stand_in_label, stand_in_notes
from ..statistics.labels import metric_rank
from ._style import grid, rank_grid
from .base import Drawing, Figure, explanation

if TYPE_CHECKING:
    from ..benchmarks.base import Benchmark
    from ..study import Study

MAIN = "olaph"


def draw(benchmark: str, inputs: Inputs) -> Drawing:
    """Models in rows, headline metrics in columns, ordered by mean rank; 1 is best."""
    import pandas as pd

    means = inputs.means
    means = means[means["headline"].astype(bool) & means["mean"].notna()] if len(means) else means
    if benchmark not in inputs.benchmarks:
        return explanation(f"The benchmark {benchmark} is not in the study.")
    if not len(means):
        return explanation(f"No metric was scored on {inputs.title(benchmark)}.")
    value = means["mean"].where(means["higher_is_better"].astype(bool), -means["mean"])
    ranks = means.assign(rank=value.groupby(means["metric"]).rank(ascending=False, method="average"))
    metrics = sorted(ranks["metric"].unique(), key=metric_rank)
    known = ranks.drop_duplicates("metric").set_index("metric")
    wide = ranks.pivot(index="model", columns="metric", values="rank")[metrics]
    quality = [name for name in metrics if not name.startswith("length")] or metrics
    wide = wide.loc[wide[quality].mean(axis=1).sort_values(kind="stable").index]
    labels = [stand_in_label(known.at[m, "label"], known.at[m, "stand_in"]) for m in metrics]
    shown = wide.set_axis([inputs.label(m) for m in wide.index]).set_axis(labels, axis=1)
    picture, axes = grid(shown)
    rank_grid(axes, shown)
    notes = [
        f"1 is best of {len(wide)}; equal means share the mean of their ranks. Rows: in the order of their mean rank, "
        "length aside.",
        *stand_in_notes({row.label: row.stand_in for row in known.itertuples()}),
        *inputs.model_notes(list(wide.index)),
        *inputs.benchmark_notes([benchmark]),
    ]
    columns = ["model", "benchmark", "metric", "label", "mean", "ci_low", "ci_high", "n", "rank"]
    data = pd.DataFrame(ranks[columns]).reset_index(drop=True)
    return Drawing(picture, data, tuple(notes))


def _figure(name: str, benchmark: str, title: str, **about: str) -> Figure:
    return Figure(
        name=name,
        slug=f"fig18_ranks_{benchmark}",
        title=f"Figure 18: ranks of the models by metric, {title}",
        caption=(
            f"Rank of each model by its mean on {title}, for every headline metric. Length is ranked as if longer "
            "were better."
        ),
        covers=functools.partial(_is, benchmark),
        draw=functools.partial(draw, benchmark),
        **about,
    )


def _is(name: str, benchmark: Benchmark) -> bool:
    return benchmark.name == name


FIGURE = _figure("figure18", MAIN, "OLAPH")


def subjects(study: Study) -> dict[str, str]:
    """The other benchmarks with free-text answers."""
    return {name: b.title for name, b in study.benchmarks.items() if b.kind == "open" and name != MAIN}


def sibling(subject: str, title: str) -> Figure:
    """The figure of one benchmark."""
    return _figure(f"figure18_{subject}", subject, title, subject=subject, subject_title=title)
