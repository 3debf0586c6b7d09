"""The study's correlation matrices: metric by metric for a benchmark, benchmark by benchmark for a metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..identity import derived_seed
from ..metrics.base import Metric
from .aggregation import Draws, bootstrap, is_averaged_perplexity, logged
from .clusters import CLUSTER_COLUMNS, co_clustering
from .correlation import COEFFICIENTS, CORRELATION_COLUMNS, LEVEL, MINIMUM_FOR_COEFFICIENT, correlation_matrix
from .robustness import LEFT_OUT_COLUMNS, detectable, is_weak, leave_one_family_out, partial_correlation
from .stability import SPLITS, disattenuated, ranking_stability

if TYPE_CHECKING:
    import pandas as pd

# An interval over items needs fewer draws than a mean's: its ends are read to two decimals.
DRAWS = 500
DESCRIBED = ("label", "stand_in")
DESCRIPTIONS = tuple(f"{side}_{field}" for side in "ab" for field in DESCRIBED)
PAIR_COLUMNS = ("a", "b", *CORRELATION_COLUMNS, "by_construction", *(f"{c}_q" for c in COEFFICIENTS))
METRIC_PAIR_COLUMNS = (
    "benchmark",
    *PAIR_COLUMNS,
    "pearson_items_low",
    "pearson_items_high",
    "pearson_given_length",
    "pearson_given_length_p",
    "given_length_reason",
    "reliability_a",
    "reliability_b",
    "pearson_disattenuated",
    "disattenuated_reason",
    "weak",
    "detectable",
    *DESCRIPTIONS,
)


@dataclass(frozen=True)
class MetricAnalyses:
    """What the scores of one pack say of its metrics, each a frame with a `benchmark` column.

    `pairs`: METRIC_PAIR_COLUMNS; `stability`: stability.STABILITY_COLUMNS; `families`:
    robustness.LEFT_OUT_COLUMNS; `clusters`: clusters.CLUSTER_COLUMNS and DESCRIPTIONS.
    """

    pairs: pd.DataFrame
    stability: pd.DataFrame
    families: pd.DataFrame
    clusters: pd.DataFrame


def comparable(means: pd.DataFrame, *, oriented: bool) -> pd.Series:
    """Means as they enter a correlation: perplexities as logarithms (nats), and, where `oriented`, with
    the sign changed for metrics whose lower values are better."""
    values = means["mean"].astype(float)
    perplexity = (means["transform"] == "exp") | means["metric"].map(is_averaged_perplexity).astype(bool)
    values = values.where(~perplexity, np.log(values.where(values > 0)))
    if oriented:
        values = values.where(means["higher_is_better"].astype(bool), -values)
    return values


def analyse_metrics(
    scores: pd.DataFrame,
    metrics: Mapping[str, Metric],
    groups: Mapping[str, Mapping[str, str]],
    families: Mapping[str, str],
    *,
    seed: int,
    draws: int = DRAWS,
    splits: int = SPLITS,
) -> MetricAnalyses:
    """Headline metrics by one another over models, for every benchmark of the scores, and how far each
    coefficient holds.

    Perplexities enter as logarithms, nothing changes its sign. `pearson_items_low`, `_high` bound Pearson's r
    by the 95 % percentile bootstrap over items (models fixed); the other intervals are over models.
    `pearson_given_length` is the partial coefficient given log(1 + mean length in words).
    `pearson_disattenuated` divides by the metrics' reliabilities (see stability). `weak` tells that the
    interval over models lies within (-.3, .3), `detectable` the |r| that so many models show with 80 %
    power. `families`: model -> base-model family.
    """
    import pandas as pd

    stability = ranking_stability(scores, metrics, groups, seed=seed, splits=splits)
    parts: dict[str, list[pd.DataFrame]] = {"pairs": [], "families": [], "clusters": []}
    for benchmark, part in scores.groupby("benchmark", observed=True, sort=False):
        result = bootstrap(part, benchmark, groups.get(benchmark, {}), seed=seed, draws=draws)
        columns = result.sums.columns
        result = Draws(result.sums, logged(result.point, columns), logged(result.draws, columns))
        values = _by_model(result.point, result)
        values = values[[name for name in values.columns if metrics[name].headline]]
        of_benchmark = stability[stability["benchmark"] == benchmark].set_index("metric")["reliability"]
        found = {
            "pairs": _metric_pairs(values, result, metrics, of_benchmark),
            "families": leave_one_family_out(values, families),
            "clusters": co_clustering(
                values[[name for name in values.columns if not _is_length(name)]],
                seed=derived_seed(seed, "clusters", benchmark),
            ),
        }
        for name, frame in found.items():
            frame.insert(0, "benchmark", benchmark)
            if name != "families":
                _describe(frame, metrics)
            parts[name].append(frame)
    empty = {
        "pairs": METRIC_PAIR_COLUMNS,
        "families": ("benchmark", *LEFT_OUT_COLUMNS),
        "clusters": ("benchmark", *CLUSTER_COLUMNS, *DESCRIPTIONS),
    }
    joined = {
        name: pd.concat([f for f in frames if len(f)] or [pd.DataFrame(columns=list(empty[name]))], ignore_index=True)
        for name, frames in parts.items()
    }
    return MetricAnalyses(**joined, stability=stability)


def _metric_pairs(
    values: pd.DataFrame, result: Draws, metrics: Mapping[str, Metric], reliability: pd.Series
) -> pd.DataFrame:
    names = list(values.columns)
    pairs = correlation_matrix(values, by_construction=_same_group(metrics))
    pairs[["pearson_items_low", "pearson_items_high"]] = _item_intervals(pairs, result, names)
    lengths = [name for name in names if _is_length(name)]
    length = np.log1p(values[lengths[0]].to_numpy(float)) if lengths else None
    partials, corrected = [], []
    for row in pairs.itertuples():
        partials.append(_given_length(values, row.a, row.b, length))
        corrected.append(disattenuated(row.pearson, reliability.get(row.a), reliability.get(row.b)))
    _set(pairs, ("pearson_given_length", "pearson_given_length_p", "given_length_reason"), partials)
    pairs["reliability_a"] = pairs["a"].map(reliability)
    pairs["reliability_b"] = pairs["b"].map(reliability)
    _set(pairs, ("pearson_disattenuated", "disattenuated_reason"), corrected)
    intervals = zip(pairs["pearson_low"], pairs["pearson_high"], strict=True)
    pairs["weak"] = [is_weak(low, high) for low, high in intervals]
    pairs["detectable"] = [detectable(n) for n in pairs["n"]]
    return pairs


def _describe(pairs: pd.DataFrame, metrics: Mapping[str, Metric]) -> None:
    """Add what DESCRIBED names, for both metrics of each pair."""
    for side in "ab":
        for field in DESCRIBED:
            pairs[f"{side}_{field}"] = [getattr(metrics[name], field) for name in pairs[side]]


def _set(frame: pd.DataFrame, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Add columns from rows, of which there may be none."""
    for i, name in enumerate(names):
        frame[name] = [row[i] for row in rows]


def _given_length(
    values: pd.DataFrame, a: str, b: str, length: np.ndarray | None
) -> tuple[float | None, float | None, str]:
    if length is None:
        return None, None, "no length was scored"
    if _is_length(a) or _is_length(b):
        return None, None, "length itself"
    return partial_correlation(values[a].to_numpy(float), values[b].to_numpy(float), length)


def _is_length(name: str) -> bool:
    return name.startswith("length")


def benchmark_matrix(means: pd.DataFrame) -> pd.DataFrame:
    """Benchmark by benchmark over models, for every headline metric of the means: columns `metric`, what
    DESCRIBED names, and PAIR_COLUMNS."""
    import pandas as pd

    parts = [pd.DataFrame(columns=["metric", *DESCRIBED, *PAIR_COLUMNS])]
    means = means[means["headline"].astype(bool)]
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
        if metric in names:
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
