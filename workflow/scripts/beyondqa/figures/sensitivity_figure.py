"""What each headline metric can see: edits of texts, and noise on a model's weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..sensitivity.edits import SOURCES
from ..sensitivity.preferences import LADDER_SOURCE, NEEDS, all_comparisons
from ..sensitivity.targets import SOURCE as TARGET
from ..statistics.inputs import Inputs, stand_in_label, stand_in_notes
from ..statistics.labels import metric_rank
from ._style import preference_grid, stacked
from .base import Drawing, Figure, explanation

if TYPE_CHECKING:
    import pandas as pd

# A metric has an edited reference or, as a perplexity, an edited target.
REFERENCES, ANSWERS = (SOURCES[0], TARGET), (SOURCES[1],)


def draw(inputs: Inputs) -> Drawing:
    """Headline metrics by comparisons: a panel of edited references, with the ladder of noisy models beside it, and one
    of edited answers. Metrics that score no reference (accuracy, EntQA's) stand in the table alone."""
    import pandas as pd

    data = all_comparisons(inputs.read)
    data = data[data["headline"].astype(bool) & data["probability"].notna()]
    if not len(data):
        return explanation("No metric prefers anything in this study: there is no open benchmark and no derived model.")
    edited = data[data["source"].isin(REFERENCES)]
    ladder = data[data["source"] == LADDER_SOURCE]
    first = pd.concat([edited, ladder[ladder["metric"].isin(edited["metric"])] if len(edited) else ladder])
    panels = {"Edited references": first, "Edited answers": data[data["source"].isin(ANSWERS)]}
    if len(first) > len(edited):
        panels = {"Edited references, less noisy models": first, "Edited answers": panels["Edited answers"]}
    grids = {title: _grid(rows) for title, rows in panels.items() if len(rows)}
    picture, axes = stacked(list(grids.values()))
    for panel, (title, values) in zip(axes, grids.items(), strict=True):
        preference_grid(panel, values)
        panel.set_title(title)
    shown = pd.concat(panels.values())
    notes = (
        "Blank: no value. The table has the other metrics, the intervals and the reasons.",
        *stand_in_notes(dict(zip(shown["metric_label"], shown["stand_in"], strict=True))),
        *inputs.model_notes(list(inputs.models)),
    )
    return Drawing(picture, shown.reset_index(drop=True), notes)


def _grid(data: pd.DataFrame) -> pd.DataFrame:
    """Labels of metrics by names of comparisons: probabilities."""
    several = len({name.rpartition(": ")[0] for name in data.loc[data["check"] == "ladder", "comparison"]}) > 1
    shares = data.pivot(index="metric", columns="comparison", values="probability").astype(float)
    order = sorted(shares.index, key=metric_rank)
    labels = {row.metric: stand_in_label(row.metric_label, row.stand_in) for row in data.itertuples()}
    shares = shares.loc[order, list(dict.fromkeys(data["comparison"]))].rename(index=labels)
    return shares.rename(columns=lambda name: (name if several else name.rpartition(": ")[2]).replace("_", " "))


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
