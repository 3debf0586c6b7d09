"""One value against every metric of every benchmark, as a heat map of tasks and metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..benchmarks.base import TASKS
from ..statistics.against import by_task
from ..statistics.inputs import Inputs, stand_in_label, stand_in_notes
from ..statistics.labels import metric_rank
from ._correlations import reasons_of
from ._style import grid, heatmap
from .base import Drawing, explanation

if TYPE_CHECKING:
    import pandas as pd


def against_drawing(inputs: Inputs, rows: pd.DataFrame, *, of: str, notes: Sequence[str] = ()) -> Drawing:
    """Tasks in rows, metrics in columns: the mean over a task's benchmarks of Pearson's r. `rows` as from
    statistics.against.against; the data are its rows, one a benchmark and metric."""

    if not len(rows) or not rows["pearson"].notna().any():
        reasons = "; ".join(reasons_of(rows)) if len(rows) else "nothing to set against it was scored"
        return explanation(f"No correlation with {of} can be drawn: {reasons}.", *notes)
    cells = by_task(rows, {name: entry["task"] for name, entry in inputs.benchmarks.items()})
    known = rows.drop_duplicates("metric").set_index("metric")
    metrics = sorted(cells["metric"].unique(), key=metric_rank)
    tasks = [task for task in TASKS if task in set(cells["task"])]
    values = cells.pivot(index="task", columns="metric", values="pearson").reindex(index=tasks, columns=metrics)
    significant = cells.pivot(index="task", columns="metric", values="significant").reindex_like(values)
    labels = [stand_in_label(known.at[m, "label"], known.at[m, "stand_in"]) for m in metrics]
    titles = [TASKS[task] for task in tasks]
    shown = values.set_axis(titles).set_axis(labels, axis=1)
    picture, axes = grid(shown)
    heatmap(axes, shown, ~(significant > 0), colour_bar_label="Pearson's r over models")
    n = rows.loc[rows["pearson"].notna(), "n"]
    return Drawing(
        picture,
        rows.reset_index(drop=True),
        (
            f"A cell is the mean of the coefficients of the task's benchmarks; n = {_spread(n)} models a coefficient. "
            "Faded: no benchmark of the cell has q < 0.05 (Benjamini-Hochberg over all rows of the CSV).",
            *stand_in_notes({row.label: row.stand_in for row in known.itertuples()}),
            *inputs.model_notes(list(inputs.models)),
            *inputs.benchmark_notes(list(rows["benchmark"])),
            *notes,
        ),
    )


def _spread(n: pd.Series) -> str:
    return f"{n.min():.0f}" if n.min() == n.max() else f"{n.min():.0f} to {n.max():.0f}"
