"""What each headline metric can see: edits of texts, and noise on a model's weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..sensitivity.edits import SOURCES
from ..sensitivity.preferences import LADDER_SOURCE, NEEDS, all_comparisons
from ..sensitivity.targets import SOURCE as TARGET
from ..statistics.inputs import Inputs
from ..statistics.labels import metric_rank
from ._style import preference_grid, stacked
from .base import Drawing, Figure, explanation

if TYPE_CHECKING:
    import pandas as pd

WIDTH = 3.5  # inches, one column of two
# Panels from above to below: title -> the texts that were scored. A metric has an edited reference or a target.
PANELS = {
    "Edited references": (SOURCES[0], TARGET),
    "Edited answers": (SOURCES[1],),
    "Less noisy model's answers": (LADDER_SOURCE,),
}


def draw(inputs: Inputs) -> Drawing:
    """One panel a source of texts: headline metrics by comparisons."""
    data = all_comparisons(inputs.read)
    shown = data[data["headline"].astype(bool) & data["probability"].notna()]
    if not len(shown):
        return explanation("No metric prefers anything in this study: there is no open benchmark and no derived model.")
    grids = {title: grid(shown[shown["source"].isin(sources)]) for title, sources in PANELS.items()}
    grids = {title: values for title, values in grids.items() if len(values)}
    picture, panels = stacked([len(values) for values in grids.values()], width=WIDTH)
    for axes, (title, values) in zip(panels, grids.items(), strict=True):
        preference_grid(axes, values)
        axes.set_title(title, fontsize=8)
    notes = (
        "Blank: no value. The table has the other metrics, the intervals and the reasons.",
        *inputs.model_notes(list(inputs.models)),
    )
    return Drawing(picture, shown, notes)


def grid(data: pd.DataFrame) -> pd.DataFrame:
    """Labels of metrics by names of comparisons: probabilities."""
    bases = {name.rpartition(": ")[0] for name in data["comparison"]}
    shares = data.pivot_table(index=["metric", "metric_label"], columns="comparison", values="probability", sort=False)
    shares = shares.sort_index(level="metric", key=lambda names: names.map(metric_rank)).droplevel("metric")
    return shares.rename(columns=lambda name: _short(name, several=len(bases) > 1))


def _short(comparison: str, *, several: bool) -> str:
    """A ladder's comparison without its base model, where all have the same one."""
    return (comparison if several else comparison.rpartition(": ")[2]).replace("_", " ")


FIGURE = Figure(
    name="sensitivity_figure",
    slug="sensitivity",
    title="Sensitivity of the metrics",
    caption=(
        "The probability that a metric prefers a harmless edit of a text to the edit named below, or (numbers) the "
        "answer of the less noisy of two models. 0.5 (white) is blind; below it (red) the metric prefers the worse "
        "text. Perplexities compare edited references as targets. The noise shows sensitivity to gross loss of "
        "fluency, not to clinical error."
    ),
    covers=lambda benchmark: True,
    needs=NEEDS,
    draw=draw,
)
