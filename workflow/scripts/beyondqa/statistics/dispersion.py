"""How much a metric moves between answers that ought to score alike: samples and rephrasings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..metrics.base import Metric

if TYPE_CHECKING:
    import pandas as pd

# Kind of dispersion -> the stages whose answers it compares. Resilience compares the original answer too:
# paper 1 speaks of six rephrasings and its script makes five, so original and five are the six versions.
KINDS = {
    "self_consistency": ("samples",),
    "resilience": ("greedy", "rephrased"),
    "resilience_again": ("greedy", "rephrased_again"),
}


def dispersion(scores: pd.DataFrame, metrics: Mapping[str, Metric], *, rephraser: str = "") -> pd.DataFrame:
    """One row a (model, benchmark, metric, item) for scores that hold several answers an item.

    `variance` and `standard_deviation` are those of a population (paper 1, C.2), in the metric's squared
    unit and unit. With R the metric's range over all answers of all models to the benchmark,
    `variance_by_squared_range` = variance / R^2 has no unit; `variance_by_range` = variance / R is the
    literal reading of section 3.4 and depends on the unit; `variance_by_variance_range` divides by the
    range of the variance column, the other reading. `coefficient_of_variation` = standard deviation /
    mean, for metrics that take no negative value. Items with one answer alone are left out: they were not
    repeated. Undefined values are missing, and `reason` says why. `rephraser` is the model that made the further
    answers out of the first one, "" where each model gave its own.
    """
    import pandas as pd

    answers = scores.groupby(["model", "benchmark", "item_id", "metric"], observed=True)["value"].transform("size")
    repeated = scores[answers > 1]
    parts = [
        _of_metric(benchmark, metrics[name], part)
        for (benchmark, name), part in repeated.groupby(["benchmark", "metric"], observed=True)
    ]
    joined = pd.concat(parts or [pd.DataFrame(columns=list(DISPERSION_COLUMNS))], ignore_index=True)
    return joined.assign(rephraser=rephraser)


# Of one metric; `dispersion` adds the rephraser.
DISPERSION_COLUMNS = (
    "model",
    "benchmark",
    "metric",
    "item_id",
    "n",
    "mean",
    "variance",
    "standard_deviation",
    "variance_by_squared_range",
    "variance_by_range",
    "variance_by_variance_range",
    "coefficient_of_variation",
    "reason",
)


def _of_metric(benchmark: str, metric: Metric, part: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    groups = part.groupby(["model", "item_id"], observed=True, sort=True)["value"]
    frame = pd.DataFrame(
        {
            "n": groups.count(),
            "mean": groups.mean(),
            "variance": groups.var(ddof=0),
            "standard_deviation": groups.std(ddof=0),
        }
    ).reset_index()
    frame["benchmark"] = benchmark
    frame["metric"] = metric.name
    few = frame["n"] < 2
    frame.loc[few, ["variance", "standard_deviation"]] = np.nan
    frame["reason"] = np.where(few, "fewer than two defined values", "")

    value_range = _range(part["value"])
    variance_range = _range(frame["variance"])
    frame["variance_by_squared_range"] = _scaled(frame["variance"], value_range**2)
    frame["variance_by_range"] = _scaled(frame["variance"], value_range)
    frame["variance_by_variance_range"] = _scaled(frame["variance"], variance_range)
    if not value_range > 0:
        _because(frame, ~few, "equal values everywhere: no range to divide by")

    signed = metric.minimum is None or bool((part["value"] < 0).any())
    of_mean = frame["mean"] > 0
    frame["coefficient_of_variation"] = (frame["standard_deviation"] / frame["mean"]).where(of_mean & (not signed))
    if signed:
        _because(frame, ~few, "values of either sign: no coefficient of variation")
    else:
        _because(frame, ~few & ~of_mean, "mean of 0: no coefficient of variation")
    return frame[list(DISPERSION_COLUMNS)]


def _range(values: pd.Series) -> float:
    return float(values.max() - values.min())


def _scaled(variance: pd.Series, by: float) -> pd.Series:
    return variance / by if by > 0 else variance * np.nan


def _because(frame: pd.DataFrame, rows: pd.Series, reason: str) -> None:
    joined = frame.loc[rows, "reason"].map(lambda known: f"{known}; {reason}" if known else reason)
    frame.loc[rows, "reason"] = joined
