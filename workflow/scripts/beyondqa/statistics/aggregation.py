"""From per-item scores to one value a (model, metric): means with bootstrap intervals over items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..identity import derived_seed
from ..metrics.base import TRANSFORMS, Metric
from .scores import FLAGS, with_flag

if TYPE_CHECKING:
    import pandas as pd

DRAWS = 2000
LEVEL = 0.95


@dataclass(frozen=True)
class ItemSums:
    """Sums over the rows of each item: arrays of shape (items, columns), a column being a (model, metric).

    `weighted` holds sum(weight * value) and `weights` sum(weight) over the defined values; `answered_*`
    leave empty answers out. `asked` tells which items the cell has; `flagged[flag]` which carry a flag.
    """

    items: list[str]
    columns: list[tuple[str, str]]
    weighted: np.ndarray
    weights: np.ndarray
    answered_weighted: np.ndarray
    answered_weights: np.ndarray
    asked: np.ndarray
    flagged: Mapping[str, np.ndarray]


def item_sums(scores: pd.DataFrame) -> ItemSums:
    """Sums per item of one benchmark's scores (the answers of record, no samples)."""
    import pandas as pd

    items, names = pd.factorize(scores["item_id"].astype(str), sort=True)
    pairs = pd.MultiIndex.from_arrays([scores["model"].astype(str), scores["metric"].astype(str)])
    codes, columns = pd.factorize(pairs, sort=True)
    shape = (len(names), len(columns))
    cell = items * shape[1] + codes

    def total(amounts: np.ndarray, rows: np.ndarray) -> np.ndarray:
        return np.bincount(cell[rows], weights=amounts[rows], minlength=shape[0] * shape[1]).reshape(shape)

    values, weights = scores["value"].to_numpy(float), scores["weight"].to_numpy(float)
    everything = np.ones(len(scores), bool)
    defined = ~np.isnan(values)
    answered = defined & ~with_flag(scores["flags"], "empty").to_numpy()
    return ItemSums(
        items=list(names),
        columns=list(columns),
        weighted=total(values * weights, defined),
        weights=total(weights, defined),
        answered_weighted=total(values * weights, answered),
        answered_weights=total(weights, answered),
        asked=total(np.ones(len(scores)), everything) > 0,
        flagged={f: total(np.ones(len(scores)), with_flag(scores["flags"], f).to_numpy()) > 0 for f in FLAGS},
    )


def ratios(counts: np.ndarray, weighted: np.ndarray, weights: np.ndarray, strata: np.ndarray | None) -> np.ndarray:
    """Weighted means, shape (draws, columns), for item multiplicities `counts` of shape (draws, items).

    With `strata` (a group number an item) it is the plain mean of the groups' means, over the groups that
    have a defined value. NaN where nothing is defined.
    """
    if strata is None:
        return _divide(counts @ weighted, counts @ weights)
    groups = [strata == g for g in np.unique(strata)]
    means = np.stack([_divide(counts[:, g] @ weighted[g], counts[:, g] @ weights[g]) for g in groups])
    present = ~np.isnan(means)
    return _divide(np.where(present, means, 0).sum(axis=0), present.sum(axis=0).astype(float))


def resamples(n: int, strata: np.ndarray | None, *, draws: int, seed: int) -> np.ndarray:
    """How often each of n items is drawn, shape (draws, n): with replacement, within strata where given."""
    random = np.random.default_rng(seed)
    if strata is None:
        return random.multinomial(n, np.full(n, 1 / n), size=draws).astype(float)
    counts = np.empty((draws, n))
    for group in np.unique(strata):
        members = np.flatnonzero(strata == group)
        counts[:, members] = random.multinomial(len(members), np.full(len(members), 1 / len(members)), size=draws)
    return counts


def strata_of(items: list[str], groups: Mapping[str, str]) -> np.ndarray | None:
    """Group numbers of the items, None where the benchmark's mean is over items and not over groups."""
    if not groups:
        return None
    return np.unique([groups[item] for item in items], return_inverse=True)[1]


@dataclass(frozen=True)
class Draws:
    """Means of one benchmark: `point` (columns,) and `draws` (draws, columns), before any transform."""

    sums: ItemSums
    point: np.ndarray
    draws: np.ndarray


def bootstrap(scores: pd.DataFrame, benchmark: str, groups: Mapping[str, str], *, seed: int, draws: int) -> Draws:
    """Point estimates and bootstrap draws of every (model, metric) of one benchmark.

    The resamples depend on the study's seed, the benchmark and its items alone: they are the same for
    every model and metric, so that differences and correlations of draws are paired.
    """
    sums = item_sums(scores)
    strata = strata_of(sums.items, groups)
    n = len(sums.items)
    counts = resamples(n, strata, draws=draws, seed=derived_seed(seed, "bootstrap", benchmark))
    return Draws(
        sums=sums,
        point=ratios(np.ones((1, n)), sums.weighted, sums.weights, strata)[0],
        draws=ratios(counts, sums.weighted, sums.weights, strata),
    )


def is_averaged_perplexity(metric: str) -> bool:
    """Whether a metric's means are of perplexities themselves and not of their logarithms (Relaxed Perplexity)."""
    return metric.startswith("relaxed_perplexity")


def logged(values: np.ndarray, columns: Sequence[tuple[str, str]]) -> np.ndarray:
    """Means with a (model, metric) in each of the last axis, averaged perplexities as logarithms: the scale on
    which the other perplexities are pooled, and on which all are correlated."""
    values = values.copy()
    averaged = [i for i, (_, metric) in enumerate(columns) if is_averaged_perplexity(metric)]
    values[..., averaged] = np.log(np.where(values[..., averaged] > 0, values[..., averaged], np.nan))
    return values


def means(
    scores: pd.DataFrame,
    metrics: Mapping[str, Metric],
    groups: Mapping[str, Mapping[str, str]],
    *,
    seed: int,
    draws: int = DRAWS,
) -> pd.DataFrame:
    """One row a (model, benchmark, metric).

    `mean` is transform(sum(weight * value) / sum(weight)) (beyondqa.items.Score) over items, or the plain
    mean over `groups[benchmark]` (item id -> group) of that. `ci_low`, `ci_high`: 95 % percentile
    bootstrap over items. `mean_answered` leaves empty answers out, as the authors' NaN-ignoring mean does.
    `n` counts items, `n_null` those without a defined value, `n_<flag>` those with a flag. Undefined
    values are missing, and `reason` says why. The metrics' descriptions stand in the columns that follow.
    """
    import pandas as pd

    rows = []
    for benchmark, part in scores.groupby("benchmark", observed=True, sort=False):
        of_items = groups.get(benchmark, {})
        result = bootstrap(part, benchmark, of_items, seed=seed, draws=draws)
        sums, strata = result.sums, strata_of(result.sums.items, of_items)
        ones = np.ones((1, len(sums.items)))
        answered = ratios(ones, sums.answered_weighted, sums.answered_weights, strata)[0]
        for column, (model, name) in enumerate(sums.columns):
            metric = metrics[name]
            transform = TRANSFORMS[metric.transform]
            n = int(sums.asked[:, column].sum())
            n_defined = int((sums.weights[:, column] > 0).sum())
            low, high, reason = interval(result.draws[:, column], n_defined, strata)
            rows.append(
                {
                    "model": model,
                    "benchmark": benchmark,
                    "metric": name,
                    "n": n,
                    "n_null": n - n_defined,
                    **{f"n_{flag}": int(sums.flagged[flag][:, column].sum()) for flag in FLAGS},
                    "mean": _apply(transform, result.point[column]),
                    "ci_low": _apply(transform, low),
                    "ci_high": _apply(transform, high),
                    "mean_answered": _apply(transform, answered[column]),
                    "ci_unit": "items" if strata is None else "items within groups",
                    "reason": "no item has a defined value" if n_defined == 0 else reason,
                    "label": metric.label,
                    "higher_is_better": metric.higher_is_better,
                    "transform": metric.transform,
                    "group": metric.group,
                    "headline": metric.headline,
                    "stand_in": metric.stand_in,
                }
            )
    floats = dict.fromkeys(("mean", "ci_low", "ci_high", "mean_answered"), float)
    return pd.DataFrame(rows, columns=list(MEANS_COLUMNS)).astype(floats)


MEANS_COLUMNS = (
    "model",
    "benchmark",
    "metric",
    "n",
    "n_null",
    *(f"n_{flag}" for flag in FLAGS),
    "mean",
    "ci_low",
    "ci_high",
    "mean_answered",
    "ci_unit",
    "reason",
    "label",
    "higher_is_better",
    "transform",
    "group",
    "headline",
    "stand_in",
)


def interval(draws: np.ndarray, n_defined: int, strata: np.ndarray | None) -> tuple[float | None, float | None, str]:
    """95 % percentile interval of bootstrap draws, and "" or why there is none."""
    if n_defined < 2:
        return None, None, "no interval from fewer than two items"
    if strata is not None and np.bincount(strata).min() < 2:
        return None, None, "no interval: a group has fewer than two items"
    low, high = np.nanquantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high), ""


def _apply(transform, value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else transform(float(value))


def _divide(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    return np.divide(numerator, denominator, out=np.full(np.shape(numerator), np.nan), where=denominator > 0)
