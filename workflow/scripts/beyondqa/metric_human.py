"""How metrics follow human scores of the same answers, at four levels, with and without the answers' length.

The data are several systems' answers to the same items, each scored by humans (MTS-Dialog's correlation study:
4 systems, 100 dialogues). A pooled correlation mixes three things: that items differ, that systems differ, and
that answers to one item differ; the other levels take the first two out.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import StudyError
from .scoring import score_pairs

if TYPE_CHECKING:
    import pandas as pd

# Level -> whether item means are removed, whether system means are.
LEVELS = {
    "pooled": (False, False),
    "within item": (True, False),
    "within system": (False, True),
    "doubly centred": (True, True),
}
LENGTH = "length[words]"
COLUMNS = (
    "metric",
    "human_score",
    "level",
    "n",
    "n_items",
    "pearson",
    "ci_low",
    "ci_high",
    "pearson_given_length",
    "given_length_ci_low",
    "given_length_ci_high",
    "reason",
)


@dataclass(frozen=True)
class HumanStudy:
    """`pairs` are (answer, reference) by item, then system; `human` holds each human score as an array
    (items, systems), higher or lower better as its name says."""

    pairs: Sequence[tuple[str, str]]
    human: Mapping[str, np.ndarray]
    shape: tuple[int, int]


def read_mts_dialog(automatic: str | os.PathLike, manual: str | os.PathLike) -> HumanStudy:
    """MTS-Dialog's correlation study: rows of the two CSV files belong together, blocks of items a system.

    Raises StudyError where the rows do not pair up, or an item lacks a system.
    """
    answers, scores = _rows(automatic), _rows(manual)
    items = list(dict.fromkeys(row["ID"] for row in answers))
    systems = len(answers) // len(items)
    if len(answers) != len(scores):
        raise StudyError(f"{len(scores)} manual scores for {len(answers)} summaries", file=manual)
    if [row["ID"] for row in answers] != items * systems:
        raise StudyError("the summaries are no whole blocks of the same dialogues", file=automatic)
    shape = (len(items), systems)
    order = np.arange(len(answers)).reshape(systems, len(items)).T
    return HumanStudy(
        pairs=[(answers[k]["Automatic Summary"], answers[k]["Reference Summary"]) for k in order.ravel()],
        human={name: np.array([float(row[name]) for row in scores])[order] for name in scores[0]},
        shape=shape,
    )


def metric_human(study: HumanStudy, modules: Mapping[str, Any], *, seed: int, threads: int = 1) -> pd.DataFrame:
    """`correlations` of every metric of the modules, length among them, with the study's human scores."""
    columns, _ = score_pairs(study.pairs, {"length": {}, **modules}, threads=threads)
    values = {name: np.array(column.values, dtype=float).reshape(study.shape) for name, column in columns.items()}
    return correlations(values, study.human, seed=seed)


def correlations(
    values: Mapping[str, np.ndarray], human: Mapping[str, np.ndarray], *, seed: int, draws: int = 2000
) -> pd.DataFrame:
    """Pearson's r of every metric with every human score at every level: one row each, COLUMNS.

    All arrays are (items, systems); `values` must hold "length[words]". "Given length" is the partial correlation
    given log(1 + length), all three variables centred alike. The 95 % intervals are percentiles of a bootstrap
    over items, the same draws for every row. A correlation is None, with the reason, where a variable does not
    vary, and so is the one of length given length.
    """
    import pandas as pd

    items, systems = next(iter(values.values())).shape
    counts = np.random.default_rng(seed).multinomial(items, np.full(items, 1 / items), size=draws)
    counts = np.vstack([np.ones(items), counts]).astype(float)
    length = np.log1p(values[LENGTH])
    rows = []
    for level, (by_item, by_system) in LEVELS.items():
        for metric, x in values.items():
            for score, y in human.items():
                xy, xz, yz = (_pearson(a, b, counts, by_item, by_system) for a, b in ((x, y), (x, length), (y, length)))
                given = np.full_like(xy, math.nan) if metric == LENGTH else _partial(xy, xz, yz)
                reason = "a variable does not vary" if math.isnan(xy[0]) else ""
                rows.append((metric, score, level, items * systems, items, *_interval(xy), *_interval(given), reason))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _pearson(x: np.ndarray, y: np.ndarray, counts: np.ndarray, by_item: bool, by_system: bool) -> np.ndarray:
    """One r a row of `counts` (draws, items), which say how often each item is drawn; NaN where undefined."""
    covariance = [_covariance(a, b, counts, by_item, by_system) for a, b in ((x, y), (x, x), (y, y))]
    # Rounding leaves a variance of about 1e-32 where a column is constant.
    floor = 1e-12 * np.maximum(1.0, max(np.abs(x).max(), np.abs(y).max())) ** 2
    defined = (covariance[1] > floor) & (covariance[2] > floor)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(defined, covariance[0] / np.sqrt(covariance[1] * covariance[2]), math.nan)


def _covariance(x: np.ndarray, y: np.ndarray, counts: np.ndarray, by_item: bool, by_system: bool) -> np.ndarray:
    """Sum of products of deviations: from item means, then from each system's mean or from the grand one."""
    if by_item:
        x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    products, sums_x, sums_y = counts @ (x * y), counts @ x, counts @ y
    drawn = counts.sum(axis=1)
    if by_system:
        return (products - sums_x * sums_y / drawn[:, None]).sum(axis=1)
    return products.sum(axis=1) - sums_x.sum(axis=1) * sums_y.sum(axis=1) / (drawn * x.shape[1])


def _partial(xy: np.ndarray, xz: np.ndarray, yz: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return (xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2))


def _interval(draws: np.ndarray) -> tuple[float | None, float | None, float | None]:
    """The value, which is the first, and the interval of the rest."""
    if math.isnan(draws[0]):
        return None, None, None
    low, high = np.nanpercentile(draws[1:], [2.5, 97.5])
    return float(draws[0]), float(low), float(high)


def _rows(path: str | os.PathLike) -> list[dict[str, Any]]:
    with open(path, newline="", encoding="utf-8-sig") as file:
        return list(csv.DictReader(file))
