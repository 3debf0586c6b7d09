"""One look for all figures: sizes, palette, and the two kinds of panel that most figures are made of."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

WIDTH = 7.0  # inches, the text width of a paper in two columns
PALETTE = "colorblind"
_DIVERGING = "RdBu_r"
_SEQUENTIAL = "Blues"
_PREFERENCES = "RdBu"


def new(height: float, columns: int = 1, *, width: float = WIDTH, **options) -> tuple[Picture, list[Axes]]:
    """A picture of `columns` panels beside each other, in the house style; sizes in inches."""
    picture = _empty(width, height)
    axes = picture.subplots(1, columns, squeeze=False, **options)
    return picture, list(axes[0])


def stacked(rows: list[int], *, width: float) -> tuple[Picture, list[Axes]]:
    """A picture of grids above each other, each with so many rows and room for its title and slanted labels."""
    height = sum(0.85 + 0.15 * count for count in rows)
    picture = _empty(width, height)
    axes = picture.subplots(len(rows), 1, squeeze=False, height_ratios=rows)
    return picture, list(axes[:, 0])


def _empty(width: float, height: float) -> Picture:
    import matplotlib
    from matplotlib.figure import Figure as Picture

    matplotlib.rcParams.update(_SETTINGS)
    return Picture(figsize=(width, height), layout="constrained")


_SETTINGS = {
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "axes.titlesize": 9,
    "axes.labelsize": 8,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "axes.edgecolor": "0.6",
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
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
    """Annotated coefficients in [-1, 1] with labels on both sides; cells that are `faded` stand back.

    Missing cells stay blank. Annotations drop the leading zero and shrink with the size of the matrix.
    """
    import numpy as np
    from matplotlib import colormaps

    n_rows, n_columns = values.shape
    numbers = values.to_numpy(float)
    colours = colormaps[_DIVERGING](np.nan_to_num((numbers + 1) / 2, nan=0.5))
    colours[faded.to_numpy(bool)] = colours[faded.to_numpy(bool)] * 0.45 + 0.55
    colours[np.isnan(numbers)] = 1
    axes.imshow(colours, aspect="auto", interpolation="nearest")
    axes.set_xticks(range(n_columns), list(values.columns), rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(n_rows), list(values.index))
    axes.grid(visible=False)
    axes.tick_params(length=0)
    size = min(7.5, 95 / max(n_columns, n_rows))
    for i in range(n_rows):
        for j in range(n_columns):
            if not np.isnan(numbers[i, j]):
                strong = abs(numbers[i, j]) > 0.65 and not faded.iat[i, j]
                colour = "white" if strong else ("0.45" if faded.iat[i, j] else "0.1")
                axes.text(j, i, coefficient(numbers[i, j]), ha="center", va="center", fontsize=size, color=colour)
    for side in axes.spines.values():
        side.set_visible(False)
    _colour_bar(axes, colour_bar_label)


def rank_grid(axes: Axes, ranks: pd.DataFrame) -> None:
    """Annotated ranks, 1 the darkest."""
    _grid(axes, ranks, (ranks.max().max() - ranks) / max(1.0, ranks.max().max() - 1), lambda rank: f"{rank:g}")


def share_grid(axes: Axes, shares: pd.DataFrame, colour_bar_label: str) -> None:
    """Annotated shares in [0, 1] with a colour bar."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    _grid(axes, shares, shares, _share)
    bar = axes.figure.colorbar(ScalarMappable(Normalize(0, 1), colormaps[_SEQUENTIAL]), ax=axes, shrink=0.7, aspect=25)
    bar.set_label(colour_bar_label)
    bar.outline.set_visible(False)


def preference_grid(axes: Axes, probabilities: pd.DataFrame) -> None:
    """Annotated probabilities in [0, 1]: white at 0.5, blue above it, red below."""
    _grid(axes, probabilities, probabilities, _share, colours=_PREFERENCES, strong=lambda shade: abs(shade - 0.5) > 0.3)


def _share(value: float) -> str:
    return f"{value:.2f}".removeprefix("0")


def _grid(
    axes: Axes,
    values: pd.DataFrame,
    shades: pd.DataFrame,
    text: Callable[[float], str],
    *,
    colours: str = _SEQUENTIAL,
    strong: Callable[[float], bool] = lambda shade: shade > 0.55,
) -> None:
    import numpy as np
    from matplotlib import colormaps

    n_rows, n_columns = values.shape
    strength = shades.to_numpy(float)
    painted = colormaps[colours](np.nan_to_num(strength))
    painted[np.isnan(strength)] = 1
    axes.imshow(painted, aspect="auto", interpolation="nearest")
    axes.set_xticks(range(n_columns), list(values.columns), rotation=40, ha="right", rotation_mode="anchor")
    axes.set_yticks(range(n_rows), list(values.index))
    axes.grid(visible=False)
    axes.tick_params(length=0)
    size = min(7.5, 110 / max(n_columns, n_rows))
    for i, j in np.argwhere(~np.isnan(values.to_numpy(float))):
        colour = "white" if strong(strength[i, j]) else "0.1"
        axes.text(j, i, text(values.iat[i, j]), ha="center", va="center", fontsize=size, color=colour)
    for side in axes.spines.values():
        side.set_visible(False)


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
    axes.grid(visible=True, axis="x")


def _colour_bar(axes: Axes, label: str) -> None:
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    mappable = ScalarMappable(Normalize(-1, 1), colormaps[_DIVERGING])
    bar = axes.figure.colorbar(mappable, ax=axes, shrink=0.7, aspect=25, pad=0.02)
    bar.set_label(label)
    bar.outline.set_visible(False)
