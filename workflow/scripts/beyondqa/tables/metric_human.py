"""Metrics against other people's manual scores of the same answers."""

from __future__ import annotations

from ..statistics.inputs import Inputs
from ..statistics.labels import metric_rank
from ._coefficients import coefficient
from .base import Sheet, Table, explanation


def build(inputs: Inputs) -> Sheet:
    """One row a (human score, level, metric)."""
    import pandas as pd

    data = inputs.read("metric_human")
    if not len(data):
        return explanation("The config names no answers with manual scores (metric_human).")
    # Length stands beside every family's metrics.
    data = data.drop_duplicates(["human_score", "level", "metric"])
    levels = list(dict.fromkeys(data["level"]))
    data = data.sort_values(
        ["human_score", "level", "metric"],
        key=lambda c: c.map({"level": levels.index, "metric": metric_rank}.get(c.name, str)),
        ignore_index=True,
    )
    display = [
        {
            "Human score": row.human_score,
            "Level": row.level,
            "Metric": row.metric,
            "r": coefficient(row.pearson, row.ci_low, row.ci_high),
            "r given length": coefficient(row.pearson_given_length, row.given_length_ci_low, row.given_length_ci_high),
            "Remark": row.reason,
        }
        for row in data.itertuples()
    ]
    notes = (
        f"{data['n'].max()} answers to {data['n_items'].max()} items. Pearson's r; 95 % intervals from a bootstrap "
        "over items.",
        "Levels: as they are; item means removed; system means removed; both.",
        "Given length: partial correlation given log(1 + length in words).",
    )
    return Sheet(data, pd.DataFrame(display), notes)


TABLE = Table(
    name="metric_human",
    slug="metric_human",
    title="Metrics against human scores",
    caption="How each metric follows manual scores of the same answers, with and without the answers' length.",
    covers=lambda benchmark: False,
    needs=("metric_human",),
    build=build,
)
