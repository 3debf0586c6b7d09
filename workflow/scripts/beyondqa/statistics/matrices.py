"""The study's correlation matrices: metric by metric for a benchmark, benchmark by benchmark for a metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..metrics.base import Metric
from .aggregation import Draws, bootstrap
from .correlation import COEFFICIENTS, CORRELATION_COLUMNS, LEVEL, MINIMUM_FOR_COEFFICIENT, correlation_matrix

if TYPE_CHECKING:
    import pandas as pd

MATRIX_COLUMNS = (
    "a",
    "b",
    *CORRELATION_COLUMNS,
    "by_construction",
    *(f"{c}_q" for c in COEFFICIENTS),
    "pearson_items_low",
    "pearson_items_high",
)
# An interval over items needs fewer draws than a mean's: its ends are read to two decimals.
DRAWS = 500
DESCRIBED = ("label", "stand_in", "headline")


def comparable(means: pd.DataFrame, *, oriented: bool) -> pd.Series:
    """Means as they enter a correlation: perplexities as logarithms (nats), and, where `oriented`, with
    the sign changed for metrics whose lower values are better."""
    values = means["mean"].astype(float)
    logged = means["transform"] == "exp"
    values = values.where(~logged, np.log(values.where(values > 0)))
    if oriented:
        values = values.where(means["higher_is_better"].astype(bool), -values)
    return values


def metric_matrix(
    scores: pd.DataFrame,
    metrics: Mapping[str, Metric],
    groups: Mapping[str, Mapping[str, str]],
    *,
    seed: int,
    draws: int = DRAWS,
) -> pd.DataFrame:
    """Metric by metric over models, for every benchmark of the scores: columns `benchmark`, MATRIX_COLUMNS
    and, for both metrics, what DESCRIBED names.

    Perplexities enter as logarithms, nothing changes its sign. `pearson_items_low`, `_high` bound Pearson's
    r by the 95 % percentile bootstrap over items (models fixed); the other intervals are over models.
    """
    import pandas as pd

    parts = [pd.DataFrame(columns=["benchmark", *MATRIX_COLUMNS, *(f"{s}_{d}" for s in "ab" for d in DESCRIBED)])]
    for benchmark, part in scores.groupby("benchmark", observed=True, sort=False):
        result = bootstrap(part, benchmark, groups.get(benchmark, {}), seed=seed, draws=draws)
        names = sorted({metric for _, metric in result.sums.columns})
        matrix = correlation_matrix(_by_model(result.point, result), by_construction=_same_group(metrics))
        matrix[["pearson_items_low", "pearson_items_high"]] = _item_intervals(matrix, result, names)
        matrix.insert(0, "benchmark", benchmark)
        for side in "ab":
            for field in DESCRIBED:
                matrix[f"{side}_{field}"] = [getattr(metrics[name], field) for name in matrix[side]]
        parts.append(matrix)
    return pd.concat([p for p in parts if len(p)] or parts, ignore_index=True)


def benchmark_matrix(means: pd.DataFrame) -> pd.DataFrame:
    """Benchmark by benchmark over models, for every metric of the means: columns `metric`, what DESCRIBED
    names, and MATRIX_COLUMNS without the intervals over items (two benchmarks share none)."""
    import pandas as pd

    parts = [pd.DataFrame(columns=["metric", *DESCRIBED, *MATRIX_COLUMNS[:-2]])]
    means = means.assign(value=comparable(means, oriented=False))
    for _, part in means.groupby("metric", sort=False):
        wide = part.pivot(index="model", columns="benchmark", values="value")[part["benchmark"].unique()]
        matrix = correlation_matrix(wide)
        for position, field in enumerate(("metric", *DESCRIBED)):
            matrix.insert(position, field, part[field].iloc[0])
        parts.append(matrix)
    return pd.concat([p for p in parts if len(p)] or parts, ignore_index=True)


def _same_group(metrics: Mapping[str, Metric]) -> Callable[[str, str], bool]:
    return lambda a, b: bool(metrics[a].group) and metrics[a].group == metrics[b].group


def _by_model(row: np.ndarray, result: Draws) -> pd.DataFrame:
    import pandas as pd

    series = pd.Series(row, index=pd.MultiIndex.from_tuples(result.sums.columns, names=["model", "metric"]))
    return series.unstack("metric").sort_index(axis="columns")


def _item_intervals(matrix: pd.DataFrame, result: Draws, names: list[str]) -> np.ndarray:
    """Percentile intervals of Pearson's r over the draws, shape (pairs, 2); NaN where undefined."""
    models = sorted({model for model, _ in result.sums.columns})
    cube = np.full((len(names), len(models), len(result.draws)), np.nan)
    for column, (model, metric) in enumerate(result.sums.columns):
        cube[names.index(metric), models.index(model)] = result.draws[:, column]
    rows = []
    for a, b in zip(matrix["a"], matrix["b"], strict=True):
        x, y = cube[names.index(a)], cube[names.index(b)]
        both = ~(np.isnan(x).all(axis=1) | np.isnan(y).all(axis=1))
        if both.sum() < MINIMUM_FOR_COEFFICIENT:
            rows.append((math.nan, math.nan))
            continue
        r = _pearson_of_columns(x[both], y[both])
        defined = r[~np.isnan(r)]
        quantiles = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) if len(defined) > 1 else (math.nan,) * 2
        rows.append(tuple(quantiles))
    return np.array(rows, float).reshape(-1, 2)


def _pearson_of_columns(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Pearson's r of each column of x with the same column of y; NaN where either is constant."""
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    scale = np.sqrt((x**2).sum(axis=0) * (y**2).sum(axis=0))
    return np.divide((x * y).sum(axis=0), scale, out=np.full(scale.shape, np.nan), where=scale > 1e-15)
