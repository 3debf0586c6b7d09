"""Correlations over a handful of models: Pearson, Spearman and Kendall, with exact p-values and intervals."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

COEFFICIENTS = ("pearson", "spearman", "kendall")
MINIMUM_FOR_COEFFICIENT = 4
MINIMUM_FOR_P = 5
MAXIMUM_FOR_EXACT = 9
LEVEL = 0.95

_FIELDS = ("", "_low", "_high", "_p_exact", "_p_asymptotic", "_p")
CORRELATION_COLUMNS = ("n", *(c + f for c in COEFFICIENTS for f in _FIELDS), "p_kind", "reason")


def correlate(x: Sequence[float], y: Sequence[float]) -> dict[str, Any]:
    """The three coefficients of two columns, pairs with a missing value left out.

    Keys are CORRELATION_COLUMNS: `n` pairs; for each coefficient its value in [-1, 1], a 95 % interval
    (`_low`, `_high`) by Fisher's z, `_p_exact` (all n! permutations, n <= 9), `_p_asymptotic` (Pearson and
    Spearman by t with n - 2 degrees of freedom, Kendall by the normal approximation) and `_p`, the exact
    one where there is one; `p_kind` names which. All p are two-sided. The standard error of z is
    1/sqrt(n - 3) for Pearson, sqrt((1 + r^2/2)/(n - 3)) for Spearman (Bonett and Wright 2000) and
    sqrt(0.437/(n - 4)) for Kendall (Fieller, Hartley and Pearson 1957). There is no coefficient below
    n = 4, no p below n = 5, none for a constant column; the values are then None and `reason` says why.
    Fisher's z is infinite at 1 and -1, so a perfect correlation has no interval.
    """
    a, b = np.asarray(x, float), np.asarray(y, float)
    both = ~(np.isnan(a) | np.isnan(b))
    a, b = a[both], b[both]
    n = len(a)
    result: dict[str, Any] = dict.fromkeys(CORRELATION_COLUMNS)
    result |= {"n": n, "p_kind": "", "reason": _undefined(a, b)}
    if result["reason"]:
        return result
    for name in COEFFICIENTS:
        value, p_asymptotic = _coefficient(name, a, b)
        low, high = _fisher_interval(name, value, n)
        result |= {name: value, f"{name}_low": low, f"{name}_high": high}
        if n >= MINIMUM_FOR_P:
            exact = exact_p(name, a, b) if n <= MAXIMUM_FOR_EXACT else None
            result |= {f"{name}_p_exact": exact, f"{name}_p_asymptotic": p_asymptotic}
            result[f"{name}_p"] = p_asymptotic if exact is None else exact
    if n < MINIMUM_FOR_P:
        result["reason"] = f"n = {n}: no p-value below {MINIMUM_FOR_P}"
    else:
        result["p_kind"] = "exact permutation" if n <= MAXIMUM_FOR_EXACT else "asymptotic"
    return result


def correlation_matrix(
    values: pd.DataFrame, *, by_construction: Callable[[str, str], bool] = lambda a, b: False
) -> pd.DataFrame:
    """Every pair of columns of `values` (rows are models): one row a pair, in the columns' order.

    Columns: `a`, `b`, CORRELATION_COLUMNS, `by_construction`, and `pearson_q`, `spearman_q`, `kendall_q`,
    the p-values after Benjamini-Hochberg over the matrix. Pairs that are correlated by construction stand
    outside that family of tests: their p would loosen the bound for the others.
    """
    import pandas as pd

    rows = [
        {"a": a, "b": b, **correlate(values[a], values[b]), "by_construction": by_construction(a, b)}
        for a, b in itertools.combinations(values.columns, 2)
    ]
    columns = ["a", "b", *CORRELATION_COLUMNS, "by_construction"]
    return adjusted(pd.DataFrame(rows, columns=columns))


def adjusted(pairs: pd.DataFrame) -> pd.DataFrame:
    """`pairs` with a `_q` column for each coefficient: Benjamini-Hochberg over the rows that have a p and
    are not correlated by construction."""
    import pandas as pd
    from scipy.stats import false_discovery_control

    pairs = pairs.copy()
    for name in COEFFICIENTS:
        p = pd.to_numeric(pairs[f"{name}_p"])
        family = p.notna() & ~pairs["by_construction"].astype(bool)
        q = pd.Series(np.nan, index=pairs.index)
        if family.any():
            q[family] = false_discovery_control(p[family].to_numpy(float), method="bh")
        pairs[f"{name}_q"] = q
    return pairs


def exact_p(name: str, x: np.ndarray, y: np.ndarray) -> float:
    """Two-sided p of a coefficient over all n! orders of y, n <= 9: the share at least as far from 0."""
    orders = _all_orders(name, _scores(name, x).tobytes(), len(x))
    fixed = _scores(name, y)
    statistics = np.abs(orders @ fixed)
    observed = abs(float(_scores(name, x) @ fixed))
    return float(np.mean(statistics >= observed - 1e-9))


@functools.lru_cache(maxsize=2 * len(COEFFICIENTS))
def _all_orders(name: str, scores: bytes, n: int) -> np.ndarray:
    """Scores of every reordering of one column, shape (n!, length of scores)."""
    values = np.frombuffer(scores)
    orders = _permutations(n)
    if name != "kendall":
        return values[orders]
    signs = np.zeros((n, n))
    signs[np.triu_indices(n, 1)] = values
    signs -= signs.T
    first, second = np.triu_indices(n, 1)
    return signs[orders[:, first], orders[:, second]]


@functools.lru_cache(maxsize=1)
def _permutations(n: int) -> np.ndarray:
    return np.array(list(itertools.permutations(range(n))), dtype=np.int8)


def _scores(name: str, values: np.ndarray) -> np.ndarray:
    """The vector whose dot product with another column's is proportional to the coefficient.

    The proportion is the same for every order of the values, ties or not: centred values of length 1 for
    Pearson, of the ranks for Spearman, signs of all differences for Kendall.
    """
    if name == "kendall":
        first, second = np.triu_indices(len(values), 1)
        return np.sign(values[first] - values[second])
    if name == "spearman":
        from scipy.stats import rankdata

        values = rankdata(values)
    centred = values - values.mean()
    return centred / np.linalg.norm(centred)


def _coefficient(name: str, a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    from scipy import stats

    if name == "pearson":
        result = stats.pearsonr(a, b)
    elif name == "spearman":
        result = stats.spearmanr(a, b)
    else:
        result = stats.kendalltau(a, b, method="asymptotic")
    return float(np.clip(result.statistic, -1, 1)), float(result.pvalue)


def _fisher_interval(name: str, value: float, n: int) -> tuple[float | None, float | None]:
    from scipy.special import ndtri

    if abs(value) > 1 - 1e-12 or (name == "kendall" and n < 5):
        return None, None
    squared = {
        "pearson": lambda: 1 / (n - 3),
        "spearman": lambda: (1 + value**2 / 2) / (n - 3),
        "kendall": lambda: 0.437 / (n - 4),
    }[name]()
    half = ndtri((1 + LEVEL) / 2) * math.sqrt(squared)
    return math.tanh(math.atanh(value) - half), math.tanh(math.atanh(value) + half)


def _undefined(a: np.ndarray, b: np.ndarray) -> str:
    n = len(a)
    if n < MINIMUM_FOR_COEFFICIENT:
        return f"n = {n}: no coefficient below {MINIMUM_FOR_COEFFICIENT}"
    if is_constant(a) or is_constant(b):
        return "a column is constant"
    return ""


def is_constant(values: np.ndarray) -> bool:
    """Whether the values differ by no more than floating-point noise."""
    return bool(np.ptp(values) <= 1e-12 * max(1e-300, float(np.abs(values).max())))
