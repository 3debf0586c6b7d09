"""How far each metric's ranking of models holds on other items."""

from __future__ import annotations

from ..statistics.inputs import Inputs
from ..statistics.labels import metric_rank
from ..statistics.stability import MINIMUM_RELIABILITY, SPLITS
from ._coefficients import coefficient
from .base import Sheet, Table, explanation


def build(inputs: Inputs) -> Sheet:
    """One row a (benchmark, metric)."""
    import pandas as pd

    data = inputs.stability
    if not len(data):
        return explanation("No score is in the study.")
    order = {name: i for i, name in enumerate(inputs.benchmarks)}
    data = data.sort_values(
        ["benchmark", "metric"], key=lambda names: names.map(order.get if names.name == "benchmark" else metric_rank)
    )
    display = [
        {
            "Benchmark": inputs.title(row.benchmark),
            "Metric": row.metric,
            "Items": str(row.n_items),
            "Models": str(row.n_models),
            "Mean Kendall τ": coefficient(row.mean_kendall),
            "Reliability": coefficient(row.reliability),
            "Remark": row.reason,
        }
        for row in data.itertuples()
    ]
    notes = [
        f"{SPLITS:,} random halves of the items. Mean Kendall τ: between the halves' rankings of the models. "
        "Reliability: Spearman-Brown, from the mean correlation of the halves; below "
        f"{MINIMUM_RELIABILITY} no correlation with the metric is disattenuated.",
        *inputs.model_notes(list(inputs.models)),
        *inputs.benchmark_notes(list(data["benchmark"])),
    ]
    return Sheet(data.reset_index(drop=True), pd.DataFrame(display), tuple(notes))


TABLE = Table(
    name="stability",
    slug="ranking_stability",
    title="Ranking stability",
    caption="Whether the models would be ranked alike by other items of the same benchmark.",
    covers=lambda benchmark: True,
    needs=("stability",),
    build=build,
)
