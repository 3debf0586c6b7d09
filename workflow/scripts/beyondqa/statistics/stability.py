"""How far a metric's ranking of models depends on the items that happen to be in the benchmark."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..identity import derived_seed
from ..metrics.base import Metric
from .aggregation import item_sums, logged, ratios, strata_of
from .correlation import MINIMUM_FOR_COEFFICIENT

if TYPE_CHECKING:
    import pandas as pd

SPLITS = 1000
# Below this reliability a disattenuated correlation says more about noise than about the metrics.
MINIMUM_RELIABILITY = 0.5
STABILITY_COLUMNS = ("benchmark", "metric", "label", "n_items", "n_models", "mean_kendall", "reliability", "reason")


def ranking_stability(
    scores: pd.DataFrame,
    metrics: Mapping[str, Metric],
    groups: Mapping[str, Mapping[str, str]],
    *,
    seed: int,
    splits: int = SPLITS,
) -> pd.DataFrame:
    """One row a (benchmark, metric), columns STABILITY_COLUMNS.

    The items are split in two random halves `splits` times (within groups where the mean is over groups).
    `mean_kendall` is the mean tau-b between the halves' rankings of the models; `reliability` is
    2r / (1 + r) (Spearman and Brown 1910) with r the mean Pearson correlation of the halves' means over
    models, perplexities as logarithms. Both are undefined below 4 models or 2 items, or where all models
    are equal.
    """
    import pandas as pd

    rows = []
    for benchmark, part in scores.groupby("benchmark", observed=True, sort=False):
        sums = item_sums(part)
        strata = strata_of(sums.items, groups.get(benchmark, {}))
        halves = half_splits(len(sums.items), strata, splits=splits, seed=derived_seed(seed, "halves", benchmark))
        first, second = (
            logged(ratios(h, sums.weighted, sums.weights, strata), sums.columns) for h in (halves, 1 - halves)
        )
        for name in sorted({metric for _, metric in sums.columns}):
            columns = [i for i, (_, metric) in enumerate(sums.columns) if metric == name]
            a, b = first[:, columns], second[:, columns]
            usable = ~(np.isnan(a) | np.isnan(b)).any(axis=0)
            row = {"benchmark": benchmark, "metric": name, "label": metrics[name].label, "n_items": len(sums.items)}
            rows.append({**row, "n_models": int(usable.sum()), **_agreement(a[:, usable], b[:, usable])})
    return pd.DataFrame(rows, columns=list(STABILITY_COLUMNS))


def half_splits(n: int, strata: np.ndarray | None, *, splits: int, seed: int) -> np.ndarray:
    """Random halves of n items as 0 and 1, shape (splits, n); within each stratum where there are strata.

    Of an odd number the larger half alternates by chance.
    """
    random = np.random.default_rng(seed)
    halves = np.zeros((splits, n))
    for members in [np.arange(n)] if strata is None else [np.flatnonzero(strata == g) for g in np.unique(strata)]:
        size = len(members)
        order = random.random((splits, size)).argsort(axis=1)
        larger = random.integers(0, 2, size=(splits, 1)) * (size % 2)
        halves[:, members] = order < size // 2 + larger
    return halves


def disattenuated(
    r: float | None, reliability_a: float | None, reliability_b: float | None
) -> tuple[float | None, str]:
    """r / sqrt(reliability_a * reliability_b) (Spearman 1904) and "", or None and why. It may exceed 1."""
    if r is None or np.isnan(r):
        return None, "no correlation"
    for reliability in (reliability_a, reliability_b):
        if reliability is None or np.isnan(reliability):
            return None, "no reliability"
        if reliability < MINIMUM_RELIABILITY:
            return None, f"a reliability is below {MINIMUM_RELIABILITY}"
    return r / float(np.sqrt(reliability_a * reliability_b)), ""


def _agreement(a: np.ndarray, b: np.ndarray) -> dict[str, float | str | None]:
    if a.shape[1] < MINIMUM_FOR_COEFFICIENT:
        return {"reason": f"n = {a.shape[1]} models: no coefficient below {MINIMUM_FOR_COEFFICIENT}"}
    tau, r = _tau_b(a, b), _pearson(a, b)
    if np.isnan(tau).all() or np.isnan(r).all():
        return {"reason": "all models are equal, or a half has no item"}
    mean_tau, mean_r = float(np.nanmean(tau)), float(np.nanmean(r))
    if mean_r <= 0:
        # Spearman-Brown is about halves that measure one thing; it has a pole at -1.
        return {"mean_kendall": mean_tau, "reliability": None, "reason": f"the halves disagree (mean r = {mean_r:.2f})"}
    return {"mean_kendall": mean_tau, "reliability": 2 * mean_r / (1 + mean_r), "reason": ""}


def _tau_b(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Kendall's tau-b of each row of a with the same row of b."""
    first, second = np.triu_indices(a.shape[1], 1)
    x, y = np.sign(a[:, first] - a[:, second]), np.sign(b[:, first] - b[:, second])
    return _over(np.einsum("ij,ij->i", x, y), np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1)))


def _pearson(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    x, y = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    return _over(np.einsum("ij,ij->i", x, y), np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1)))


def _over(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    return np.divide(numerator, denominator, out=np.full(numerator.shape, np.nan), where=denominator > 1e-15)
