"""What each metric can see: edits of texts, and noise on a model's weights."""

from __future__ import annotations

from ..statistics.inputs import Inputs
from ..statistics.labels import metric_rank
from ._style import new, share_grid
from .base import Drawing, Figure, explanation


def draw(inputs: Inputs) -> Drawing:
    """Metrics by comparisons: the probability that the better text is preferred."""
    import pandas as pd

    frames = [frame for frame in (inputs.read("corruptions"), inputs.read("ladder")) if len(frame)]
    data = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    if not len(data) or data["probability"].isna().all():
        return explanation("No metric prefers anything in this study: there is no open benchmark and no derived model.")
    comparisons = list(dict.fromkeys(data["comparison"]))
    shares = data.pivot(index="metric", columns="comparison", values="probability").astype(float)
    shares = shares.loc[sorted(shares.index, key=metric_rank), comparisons].dropna(how="all")
    picture, (axes,) = new(1.6 + 0.24 * len(shares))
    share_grid(axes, shares.rename(columns=lambda name: name.split(": ")[-1].replace("_", " ")), "Probability")
    notes = (
        "Blank: no value; the table names the reasons, and the metrics without any.",
        *inputs.model_notes(list(inputs.models)),
    )
    return Drawing(picture, data, notes)


FIGURE = Figure(
    name="sensitivity_figure",
    slug="sensitivity",
    title="Sensitivity of the metrics",
    caption=(
        "The probability that a metric prefers a harmless edit of a text to the edit named below, or (numbers) the "
        "answer of the less noisy of two models. 0.5 is blind. The noise shows sensitivity to gross loss of fluency, "
        "not to clinical error."
    ),
    covers=lambda benchmark: True,
    needs=("corruptions", "ladder"),
    draw=draw,
)
