"""What the figures about CareQA share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..statistics.careqa import counts, read_sets
from ..statistics.inputs import Inputs
from ._style import COLUMN, SMALLEST, WIDTH, new
from .base import Drawing, explanation

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def counts_drawing(inputs: Inputs, benchmarks: Sequence[str], nothing: str) -> Drawing:
    """Items by category and year: a panel a benchmark, of those that the study has."""
    import pandas as pd

    sets = {name: items for name, items in read_sets(inputs).items() if name in benchmarks}
    if not sets:
        return explanation(nothing)
    tables = {name: counts(items) for name, items in sets.items()}
    width = WIDTH if len(tables) > 1 else COLUMN
    picture, panels = new(1.0 + 0.2 * max(map(len, tables.values())), len(tables), width=width)
    for axes, (name, table) in zip(panels, tables.items(), strict=True):
        _stacked_bars(axes, table)
        axes.set_title(f"{inputs.title(name)}, {len(sets[name]):,} items")
    handles, labels = panels[0].get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside lower center", ncols=len(labels), title="Year", title_fontsize=6.5)
    long = [table.stack().rename("items").reset_index().assign(benchmark=name) for name, table in tables.items()]
    data = pd.concat(long, ignore_index=True)[["benchmark", "category", "year", "items"]]
    return Drawing(picture, data, tuple(inputs.benchmark_notes(list(sets))))


def _stacked_bars(axes: Axes, table: pd.DataFrame) -> None:
    import numpy as np
    from matplotlib import colormaps
    from matplotlib.ticker import MaxNLocator

    colours = colormaps["YlGnBu"](np.linspace(0.45, 1, len(table.columns)))
    left = np.zeros(len(table))
    smallest = 0.03 * table.sum(axis=1).max()  # a narrower part has no room for its number
    for colour, year in zip(colours, table.columns, strict=True):
        bars = axes.barh(table.index, table[year], left=left, color=colour, label=year, height=0.75)
        inside = [n if n > smallest else "" for n in table[year]]
        axes.bar_label(bars, inside, label_type="center", color="white", fontsize=SMALLEST)
        left += table[year].to_numpy()
    axes.bar_label(bars, [f" {total:,.0f}" for total in left], label_type="edge", fontsize=6.5)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.12 * left.max())
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("Items")
    axes.grid(visible=False, axis="y")
