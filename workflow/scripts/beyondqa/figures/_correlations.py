"""Correlation matrices as annotated heat maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..statistics.robustness import detectable
from ._style import grid, heatmap
from .base import Drawing, explanation

if TYPE_CHECKING:
    import pandas as pd

ALPHA = 0.05


def matrix_drawing(
    pairs: pd.DataFrame, labels: Mapping[str, str], *, notes: Sequence[str] = (), unit: str = "models"
) -> Drawing:
    """Pearson's r of every pair, symmetric; cells without q < 0.05 are faded. `labels`: variable -> label,
    in the order drawn. The data are the pairs with all coefficients, p-values and intervals."""
    import pandas as pd

    drawn = pairs[pairs["a"].isin(labels) & pairs["b"].isin(labels)]
    if not drawn["pearson"].notna().any():
        reasons = "; ".join(reasons_of(drawn)) or "fewer than two variables"
        return explanation(f"No correlation can be drawn: {reasons}.", *notes)
    having = set(drawn.loc[drawn["pearson"].notna(), ["a", "b"]].to_numpy().ravel())
    empty = [label for name, label in labels.items() if name not in having]
    labels = {name: label for name, label in labels.items() if name in having}
    names = list(labels)
    values = pd.DataFrame(float("nan"), index=names, columns=names)
    faded = pd.DataFrame(True, index=names, columns=names)
    for row in drawn[drawn["a"].isin(having) & drawn["b"].isin(having)].itertuples():
        values.at[row.a, row.b] = values.at[row.b, row.a] = row.pearson
        weak = not row.pearson_q < ALPHA and not row.by_construction
        faded.at[row.a, row.b] = faded.at[row.b, row.a] = weak
    display = list(labels.values())
    shown = values.set_axis(display).set_axis(display, axis=1)
    picture, axes = grid(shown)
    heatmap(axes, shown, faded, colour_bar_label=f"Pearson's r over {unit}")
    return Drawing(picture, drawn.reset_index(drop=True), (*pair_notes(drawn, empty), *notes))


def _power(n: int) -> str:
    r = detectable(n)
    return f" With {n} models a correlation of |r| = {r:.2f} is found four times in five." if r else ""


def reasons_of(rows: pd.DataFrame) -> list[str]:
    """The different reasons that rows give, sorted."""
    return sorted({reason for reason in rows["reason"] if reason})


def pair_notes(drawn: pd.DataFrame, empty: Sequence[str]) -> list[str]:
    """What the cells' n, p and gaps are; `empty` are labels of variables without any coefficient."""
    n = drawn.loc[drawn["pearson"].notna(), "n"]
    spread = f"{n.min():.0f}" if n.min() == n.max() else f"{n.min():.0f} to {n.max():.0f}"
    notes = [f"n = {spread} models a cell.{_power(int(n.max()))}"]
    if drawn["pearson_p"].isna().all():
        notes.append("Too few models for any p-value: every cell is faded.")
    else:
        kinds = sorted({kind for kind in drawn["p_kind"] if kind})
        notes.append(
            f"Faded cells have q ≥ {ALPHA} (Benjamini-Hochberg over the matrix; p-values: {', '.join(kinds)})."
        )
    built = drawn[drawn["by_construction"].astype(bool)]
    if len(built):
        notes.append("Perplexities and bits per byte are correlated with each other by construction.")
    gaps = reasons_of(drawn[drawn["pearson"].isna()])
    if gaps:
        left_out = f" (not drawn: {', '.join(empty)})" * bool(empty)
        notes.append(f"Without a coefficient{left_out}: {'; '.join(gaps)}.")
    return notes
