"""What a correlation owes to one family of models, and how sure one can be that there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .correlation import MINIMUM_FOR_COEFFICIENT, is_constant

if TYPE_CHECKING:
    import pandas as pd

# "No or weak correlation" is a claim of its own: it holds if the whole interval lies within this bound.
WEAK = 0.3
LEFT_OUT_COLUMNS = ("a", "b", "left_out", "n", "pearson", "spearman", "reason")


def leave_one_family_out(values: pd.DataFrame, families: Mapping[str, str]) -> pd.DataFrame:
    """Pearson's r and Spearman's rho of every pair of columns with one base-model family left out at a time.

    `values` as in correlation_matrix; `families`: model -> family. One row a (pair, family), columns
    LEFT_OUT_COLUMNS; no coefficient below n = 4 or for a constant column.
    """
    import pandas as pd

    parts = [pd.DataFrame(columns=list(LEFT_OUT_COLUMNS))]
    for family in sorted({families[model] for model in values.index if families.get(model)}):
        rest = values[[families.get(model) != family for model in values.index]]
        parts.append(_pairs(rest).assign(left_out=family)[list(LEFT_OUT_COLUMNS)])
    return pd.concat([p for p in parts if len(p)] or parts, ignore_index=True)


def partial_correlation(x: np.ndarray, y: np.ndarray, given: np.ndarray) -> tuple[float | None, float | None, str]:
    """Pearson's r of x and y given a third variable, its two-sided p by t with n - 3 degrees of freedom, and
    "" or why there is none. Triples with a missing value are left out."""
    from scipy import stats

    complete = ~(np.isnan(x) | np.isnan(y) | np.isnan(given))
    x, y, given = x[complete], y[complete], given[complete]
    n = len(x)
    if n < MINIMUM_FOR_COEFFICIENT + 1:
        return None, None, f"n = {n}: no partial coefficient below {MINIMUM_FOR_COEFFICIENT + 1}"
    if any(is_constant(column) for column in (x, y, given)):
        return None, None, "a column is constant"
    residuals = [_residuals(column, given) for column in (x, y)]
    if any(np.abs(r).max() < 1e-9 * np.ptp(c) for r, c in zip(residuals, (x, y), strict=True)):
        return None, None, "a column is a function of the third"
    r = float(np.corrcoef(*residuals)[0, 1])
    if abs(r) > 1 - 1e-12:
        return r, 0.0, ""
    t = r * math.sqrt((n - 3) / (1 - r * r))
    return r, float(2 * stats.t.sf(abs(t), n - 3)), ""


def detectable(n: int, *, power: float = 0.8, alpha: float = 0.05) -> float | None:
    """The smallest |r| that n models show with this power in a two-sided test, by Fisher's z; None for n < 4."""
    from scipy.special import ndtri

    if n < 4:
        return None
    return math.tanh(float(ndtri(1 - alpha / 2) + ndtri(power)) / math.sqrt(n - 3))


def is_weak(low: float | None, high: float | None) -> bool:
    """Whether an interval shows that a correlation is absent or weak. A wide one does not."""
    return low is not None and high is not None and low > -WEAK and high < WEAK


def _pairs(values: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    upper = np.triu_indices(values.shape[1], 1)
    present = values.notna().to_numpy(float)
    n = (present.T @ present)[upper].astype(int)
    coefficients = {
        name: values.corr(method=name, min_periods=MINIMUM_FOR_COEFFICIENT).to_numpy()[upper]
        for name in ("pearson", "spearman")
    }
    few = n < MINIMUM_FOR_COEFFICIENT
    constant = np.isnan(coefficients["pearson"]) & ~few
    columns = np.array(values.columns)
    frame = pd.DataFrame({"a": columns[upper[0]], "b": columns[upper[1]], "n": n, **coefficients})
    reasons = [f"n = {k}: no coefficient below {MINIMUM_FOR_COEFFICIENT}" for k in n]
    frame["reason"] = np.where(few, reasons, np.where(constant, "a column is constant", ""))
    return frame


def _residuals(values: np.ndarray, given: np.ndarray) -> np.ndarray:
    slope, intercept = np.polyfit(given, values, 1)
    return values - slope * given - intercept
