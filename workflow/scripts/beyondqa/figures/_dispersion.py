"""Dispersion of metrics over repeated answers, as boxes: one a metric, over the items of a benchmark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..statistics.inputs import Inputs, stand_in_label, stand_in_notes
from ..statistics.labels import metric_rank
from ._style import COLUMN, WIDTH, boxes, new
from .base import Drawing, explanation

if TYPE_CHECKING:
    import pandas as pd

STATISTICS = {
    "variance": "variance, in the metric's squared unit",
    "variance_by_squared_range": "variance / range²",
    "variance_by_range": "variance / range",
    "variance_by_variance_range": "variance / range of variances",
    "coefficient_of_variation": "standard deviation / mean",
}


def dispersion_drawing(
    inputs: Inputs,
    kinds: Sequence[str],
    shown: Sequence[str],
    *,
    models: Sequence[str] | None = None,
    logarithmic: bool = False,
) -> Drawing:
    """Boxes of the item values of each statistic in `shown`, averaged over the models first: a panel a rephraser
    and statistic. `kinds` as in statistics.dispersion.KINDS, those that the study has.

    The data are one row a (rephraser, metric, statistic): n items, number of models, mean and quartiles of the values
    drawn, for all STATISTICS, shown or not.
    """
    import pandas as pd

    found = [inputs.dispersion(kind) for kind in kinds]
    frame = pd.concat([part for part, _ in found if len(part)] or [pd.DataFrame()], ignore_index=True)
    metrics = {name: metric for _, described in found for name, metric in described.items()}
    if models is not None and len(frame):
        frame = frame[frame["model"].isin(models)]
    if not len(frame):
        return explanation("No model gave repeated answers to this benchmark in the study.")
    frame = frame[frame["metric"].map(lambda name: metrics[name].headline)]
    known = sorted(frame["metric"].unique(), key=metric_rank)
    labels = {name: stand_in_label(metrics[name].label, metrics[name].stand_in) for name in known}
    per_item = frame.groupby(["rephraser", "metric", "item_id"], sort=False)[list(STATISTICS)].mean().reset_index()
    per_item["label"] = per_item["metric"].map(labels)
    summary = _summary(per_item, frame)
    drawable = [s for s in shown if per_item[s].notna().any()]
    rephrasers = list(dict.fromkeys(frame["rephraser"]))
    notes = [
        f"Boxes: {per_item['item_id'].nunique()} items; each value is the mean over {frame['model'].nunique()} models. "
        "Diamonds: means.",
        *_rephraser_notes(rephrasers),
        *_undefined_notes(summary, frame, labels, shown),
        *stand_in_notes({metrics[name].label: metrics[name].stand_in for name in known}),
        *inputs.model_notes(list(frame["model"])),
        *inputs.benchmark_notes(list(frame["benchmark"])),
    ]
    if not drawable:
        reasons = sorted({reason for reason in frame["reason"] if reason})
        return explanation(f"Nothing to draw: {'; '.join(reasons)}.", *notes)
    visible = [name for name in known if per_item.loc[per_item["metric"] == name, drawable].notna().any(axis=None)]
    panels = [(rephraser, statistic) for rephraser in rephrasers for statistic in drawable]
    width = WIDTH if len(panels) > 1 else COLUMN
    sharing = {"sharey": True, "sharex": len(rephrasers) > 1}
    picture, axes = new(0.6 + 0.2 * len(visible), len(panels), width=width, **sharing)
    for panel, (rephraser, statistic) in zip(axes, panels, strict=True):
        if len(rephrasers) > 1:
            panel.set_title(rephraser)
        boxes(
            panel,
            per_item[per_item["rephraser"] == rephraser].dropna(subset=[statistic]),
            value=statistic,
            by="label",
            order=[labels[name] for name in visible],
            label=STATISTICS[statistic],
        )
        if logarithmic and statistic == "variance":
            _logarithmic(panel, per_item[statistic])
    return Drawing(picture, summary, tuple(notes))


def _summary(per_item: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    keys = ["rephraser", "metric"]
    models = frame.groupby(keys, sort=False)["model"].nunique()
    rows = []
    for (rephraser, metric, label), part in per_item.groupby([*keys, "label"], sort=False):
        for statistic, description in STATISTICS.items():
            values = part[statistic].dropna()
            quartiles = values.quantile([0.25, 0.5, 0.75]).tolist() if len(values) else [None] * 3
            rows.append(
                {
                    "rephraser": rephraser,
                    "metric": metric,
                    "label": label,
                    "statistic": statistic,
                    "description": description,
                    "n_items": len(values),
                    "n_models": models[rephraser, metric],
                    "mean": values.mean() if len(values) else None,
                    "q1": quartiles[0],
                    "median": quartiles[1],
                    "q3": quartiles[2],
                }
            )
    return pd.DataFrame(rows)


def _rephraser_notes(rephrasers: Sequence[str]) -> list[str]:
    if len(rephrasers) > 1:
        return [f"Rephrasers: {', '.join(rephrasers)}; each metric's range is over the answers and one's rephrasings."]
    return [f"Rephraser: {name}." for name in rephrasers if name]


def _undefined_notes(
    summary: pd.DataFrame, frame: pd.DataFrame, labels: Mapping[str, str], shown: Sequence[str]
) -> list[str]:
    blank = summary[summary["statistic"].isin(shown) & (summary["n_items"] == 0)]
    notes = []
    for row in blank.itertuples():
        reasons = sorted({r for r in frame.loc[frame["metric"] == row.metric, "reason"] if r})
        notes.append(f"{labels[row.metric]} has no {row.description}: {'; '.join(reasons)}.")
    return notes


def _logarithmic(panel, values: pd.Series) -> None:
    positive = values[values > 0]
    if len(positive):
        threshold = float(positive.quantile(0.05))
        panel.set_xscale("symlog", linthresh=threshold)
        panel.set_xlim(0, float(positive.max()) * 2)
        decades = range(math.ceil(math.log10(threshold)), math.floor(math.log10(positive.max())) + 1)
        # Few enough to stand beside each other in half a page's width.
        panel.set_xticks([0.0, *(10.0**e for e in decades[:: math.ceil(len(decades) / 5) or 1])])
        panel.minorticks_off()
