"""One look for all figures: sizes, palette, and the two kinds of panel that most figures are made of."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

# Inches: one column of a paper in two columns (85 mm), and both. Pictures are drawn at the size of print.
COLUMN, WIDTH = 3.35, 7.0
SMALLEST = 6.0  # points, of any text
# Seaborn's "colorblind"; importing seaborn takes longer than most figures.
PALETTE = ("#0173b2", "#de8f05", "#029e73", "#d55e00", "#cc78bc", "#ca9161", "#fbafe4", "#949494", "#ece133", "#56b4e9")
_DIVERGING = "RdBu_r"
_SEQUENTIAL = "Blues"
_PREFERENCES = "RdBu"
# Points. A cell holds "−.68" or "1.00" in the smallest text; a character of a label is so wide on average.
_CELL_WIDTH, _CELL_HEIGHT, _CHARACTER = 17.0, 16.0, 3.9
_SHADES = 40  # of a colour bar; a PNG has 256 colours in all
_SLANT = 40  # degrees, of the labels below
_LONGEST_LINE = 26  # characters of a label beside


def new(height: float, columns: int = 1, *, width: float = WIDTH, **options) -> tuple[Picture, list[Axes]]:
    """A picture of `columns` panels beside each other, in the house style; sizes in inches."""
    picture = _empty(width, height)
    axes = picture.subplots(1, columns, squeeze=False, **options)
    return picture, list(axes[0])


def grid(values: pd.DataFrame) -> tuple[Picture, Axes]:
    """A picture for a grid of annotated cells with a colour bar above: a column wide where the cells have room for
    their numbers, else as wide as the text, else as wide as it takes."""
    beside = max(len(line) for label in values.index for line in _lines(label).split("\n"))
    below = max(map(len, values.columns)) * math.sin(math.radians(_SLANT))
    needed = (_CHARACTER * beside + _CELL_WIDTH * values.shape[1] + 10) / 72
    width = next((width for width in (COLUMN, WIDTH) if needed <= width), needed)
    picture, (axes,) = new((_CELL_HEIGHT * len(values) + _CHARACTER * below + 45) / 72, width=width)
    return picture, axes


def stacked(grids: list[pd.DataFrame]) -> tuple[Picture, list[Axes]]:
    """A picture, a column wide, for grids with a title each above each other."""
    below = [max(map(len, values.columns)) * math.sin(math.radians(_SLANT)) for values in grids]
    rows = [len(values) for values in grids]
    picture = _empty(COLUMN, (_CELL_HEIGHT * sum(rows) + _CHARACTER * sum(below) + 35 * len(grids)) / 72)
    axes = picture.subplots(len(grids), 1, squeeze=False, height_ratios=rows)
    return picture, list(axes[:, 0])


def _empty(width: float, height: float) -> Picture:
    import matplotlib
    from matplotlib.figure import Figure as Picture

    matplotlib.rcParams.update(_SETTINGS)
    return Picture(figsize=(width, height), layout="constrained")


_SETTINGS = {
    "font.family": "DejaVu Sans",
    "font.size": 7,
    "axes.titlesize": 8,
    "axes.labelsize": 7,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "axes.edgecolor": "0.6",
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.prop_cycle": f"cycler('color', {list(PALETTE)})",
    "text.color": "0.15",
    "axes.labelcolor": "0.15",
    "xtick.color": "0.15",
    "ytick.color": "0.15",
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "grid.linewidth": 0.4,
    "grid.color": "0.88",
    "pdf.fonttype": 42,
    "svg.hashsalt": "beyondqa",
}


def message(text: str) -> Picture:
    """A picture that holds a sentence."""
    picture, (axes,) = new(1.2)
    axes.set_axis_off()
    axes.text(0.5, 0.5, textwrap.fill(text, 90), ha="center", va="center", transform=axes.transAxes)
    return picture


def heatmap(axes: Axes, values: pd.DataFrame, faded: pd.DataFrame, *, colour_bar_label: str) -> None:
    """Annotated coefficients in [-1, 1], without their leading zero; cells that are `faded` stand back, missing
    ones stay blank."""
    import numpy as np
    from matplotlib import colormaps

    painted = colormaps[_DIVERGING](np.nan_to_num((values.to_numpy(float) + 1) / 2, nan=0.5))
    back = faded.to_numpy(bool)
    painted[back] = painted[back] * 0.35 + 0.65
    _cells(axes, values, painted, np.where(back, "0.3", _ink(painted)), coefficient)
    _colour_bar(axes, colour_bar_label, _DIVERGING, -1)


def rank_grid(axes: Axes, ranks: pd.DataFrame) -> None:
    """Annotated ranks, 1 the darkest."""
    _shaded(axes, ranks, (ranks.max().max() - ranks) / max(1.0, ranks.max().max() - 1), lambda rank: f"{rank:g}")


def share_grid(axes: Axes, shares: pd.DataFrame, colour_bar_label: str) -> None:
    """Annotated shares in [0, 1] with a colour bar."""
    _shaded(axes, shares, shares, _share)
    _colour_bar(axes, colour_bar_label, _SEQUENTIAL, 0)


def preference_grid(axes: Axes, probabilities: pd.DataFrame) -> None:
    """Annotated probabilities in [0, 1]: white at 0.5, blue above it, red below. "0" and "1" leave room for more
    columns than ".00" and "1.00"."""
    ends = {".00": "0", "1.00": "1"}
    _shaded(axes, probabilities, probabilities, lambda p: ends.get(_share(p), _share(p)), colours=_PREFERENCES)


def _share(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def _shaded(
    axes: Axes, values: pd.DataFrame, shades: pd.DataFrame, text: Callable[[float], str], *, colours: str = _SEQUENTIAL
) -> None:
    import numpy as np
    from matplotlib import colormaps

    painted = colormaps[colours](np.nan_to_num(shades.to_numpy(float)))
    _cells(axes, values, painted, _ink(painted), text)


def _ink(painted: np.ndarray) -> np.ndarray:
    """Black or white for each cell, whichever has the greater contrast with its colour (WCAG 2.1)."""
    import numpy as np

    channels = painted[..., :3]
    linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return np.where(linear @ [0.2126, 0.7152, 0.0722] < 0.179, "white", "black")


def _cells(
    axes: Axes, values: pd.DataFrame, painted: np.ndarray, inks: np.ndarray, text: Callable[[float], str]
) -> None:
    """Cells in their colours (RGBA, shape (rows, columns, 4)) with their texts; labels beside and below."""
    import numpy as np

    n_rows, n_columns = values.shape
    numbers = values.to_numpy(float)
    axes.imshow(np.where(np.isnan(numbers)[..., None], 1.0, painted), aspect="auto", interpolation="nearest")
    slanted = {"rotation": _SLANT, "ha": "right", "rotation_mode": "anchor"}
    axes.set_xticks(range(n_columns), list(values.columns), **slanted)
    axes.set_yticks(range(n_rows), [_lines(label) for label in values.index], linespacing=0.95)
    axes.grid(visible=False)
    axes.tick_params(length=0)
    for i, j in np.argwhere(~np.isnan(numbers)):
        axes.text(j, i, text(numbers[i, j]), ha="center", va="center", fontsize=SMALLEST, color=inks[i, j])
    for side in axes.spines.values():
        side.set_visible(False)


def _lines(label: object) -> str:
    """A long label in lines, before its parenthesis where it has one."""
    text, _, rest = str(label).partition(" (")
    if len(str(label)) <= _LONGEST_LINE or not rest:
        return textwrap.fill(str(label), _LONGEST_LINE)
    return f"{text}\n({rest}"


def coefficient(value: float) -> str:
    """A coefficient in two decimals without the leading zero, with a true minus sign."""
    text = f"{abs(value):.2f}"
    text = text[1:] if text.startswith("0") else text
    return f"−{text}" if value < 0 and text != ".00" else text


def boxes(axes: Axes, values: pd.DataFrame, *, value: str, by: str, order: list[str], label: str) -> None:
    """One horizontal box a category (quartiles, whiskers to 1.5 IQR) with its mean as a diamond."""
    import seaborn as sns

    sns.boxplot(
        values,
        x=value,
        y=by,
        order=order,
        ax=axes,
        width=0.6,
        linewidth=0.8,
        fliersize=1.5,
        color="#8fb8de",
        showmeans=True,
        meanprops={"marker": "D", "markersize": 3.5, "markerfacecolor": "#b8560f", "markeredgecolor": "white"},
    )
    axes.set_xlabel(label)
    axes.set_ylabel("")
    axes.locator_params(axis="x", nbins=6)
    axes.grid(visible=True, axis="x")


def beside(values: pd.Series, low: pd.Series, high: pd.Series) -> list[pd.Series]:
    """Lengths of error bars below and above, which rounding can make a little negative where an end is the value."""
    return [(values - low).clip(lower=0), (high - values).clip(lower=0)]


def _colour_bar(axes: Axes, label: str, colours: str, low: float) -> None:
    """Above the panel, from `low` to 1."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    mappable = ScalarMappable(Normalize(low, 1), colormaps[colours].resampled(_SHADES))
    bar = axes.figure.colorbar(mappable, ax=axes, location="top", shrink=0.8, aspect=30, pad=0.02)
    bar.set_ticks([low, (low + 1) / 2, 1])
    bar.set_label(label)
    bar.outline.set_visible(False)
