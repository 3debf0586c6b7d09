"""How often a metric prefers the better of two texts about the same item."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..metrics.base import Metric
from ..scoring import Column, score_pairs
from .corruptions import CONTROL, GRADED, HARMFUL, HARMLESS, KINDS

if TYPE_CHECKING:
    import pandas as pd

# Items of one benchmark, so that an encoder's time does not grow with the benchmark.
ITEMS = 200
DRAWS = 2000
COLUMNS = (
    "metric",
    "check",
    "comparison",
    "n_items",
    "n_not_applicable",
    "probability",
    "ci_low",
    "ci_high",
    "reason",
)


def chosen(texts: Mapping[str, str]) -> dict[str, str]:
    """At most ITEMS of one benchmark's texts, by item id, the same ones whatever their order."""
    by_digest = sorted(texts, key=lambda item: hashlib.sha256(item.encode()).hexdigest())
    return {item: texts[item] for item in sorted(by_digest[:ITEMS])}


def corruption_preferences(
    texts: Mapping[str, str], edits: Mapping[str, Mapping[str, str]], modules: Mapping[str, Any], *, seed: int
) -> pd.DataFrame:
    """Per metric and kind of edit, the probability that a harmless edit of a text scores above that edit: COLUMNS.

    `texts` are references by item id, `edits` what `corrupted` makes of them; each edited text is scored against its
    own. An item's value is the mean, over its harmless edits, of 1 (above), 0.5 (tie) or 0; 0.5 overall is blind.
    `n_not_applicable` counts the items that lack the edit or every harmless one.
    """
    import pandas as pd

    keys = [(kind, item) for kind in KINDS for item in edits[kind]]
    columns, _ = score_pairs([(edits[kind][item], texts[item]) for kind, item in keys], modules)
    checks = {**dict.fromkeys(HARMFUL, "harmful"), **dict.fromkeys(GRADED, "graded"), CONTROL: "control"}
    rows = []
    for column in columns.values():
        scores = _oriented(column, keys)
        for kind, check in checks.items():
            values = harmless_above(scores, kind)
            rows.append((column.metric.name, check, kind, *summary(values, len(texts), _constant(scores), seed=seed)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def applicability(texts: Mapping[str, str], edits: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """How many items each kind of edit was applied to, and how many it cannot be applied to."""
    import pandas as pd

    rows = [(kind, len(edits[kind]), len(texts) - len(edits[kind])) for kind in KINDS]
    return pd.DataFrame(rows, columns=["kind", "n_items", "n_not_applicable"])


def harmless_above(scores: Mapping[tuple[str, str], float], kind: str) -> dict[str, float]:
    """Item -> how its harmless edits stand to the edit of that kind; `scores` by (kind, item), higher better."""
    values = {}
    for other, item in scores:
        if other == kind:
            standings = [preference(scores[h, item], scores[kind, item]) for h in HARMLESS if (h, item) in scores]
            if standings:
                values[item] = float(np.mean(standings))
    return values


def ladder_preferences(
    scores: pd.DataFrame, metrics: Mapping[str, Metric], noises: Mapping[str, tuple[str, float]], *, seed: int
) -> pd.DataFrame:
    """Per metric and pair of adjacent noise levels, the probability that the less noisy answer is preferred: COLUMNS.

    `scores` has metric, benchmark, item_id, model, value; `noises` is model -> (base model, noise), the base itself
    at 0. Models of one noise level are its noise seeds; an item's value is the mean over all pairs of them.
    """
    import pandas as pd

    scores = scores[scores["model"].isin(noises)].assign(**{c: scores[c].astype(str) for c in _KEYS})
    means = scores.groupby(_KEYS, sort=True)["value"].mean()
    rows = []
    for name, of_metric in means.groupby(level="metric", sort=True):
        sign = 1 if metrics[name].higher_is_better else -1
        table = sign * of_metric.droplevel("metric").unstack("model")
        known = table.to_numpy()[~np.isnan(table.to_numpy())]
        constant = not known.size or np.ptp(known) == 0
        for base, cleaner, noisier in _adjacent(noises):
            pairs = list(itertools.product(_at(noises, base, cleaner), _at(noises, base, noisier)))
            values = {}
            for item, row in table.iterrows():
                standings = [preference(row[a], row[b]) for a, b in pairs if {a, b} <= set(row.dropna().index)]
                if standings:
                    values[item] = float(np.mean(standings))
            comparison = f"{base}: {cleaner:g} over {noisier:g}"
            rows.append((name, "ladder", comparison, *summary(values, len(table), constant, seed=seed)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


_KEYS = ["metric", "benchmark", "item_id", "model"]


def preference(better: float, worse: float) -> float:
    """1 where the better text scores higher, 0.5 for a tie, 0 otherwise."""
    return float(better > worse) + 0.5 * float(better == worse)


def summary(values: Mapping[Any, float], total: int, constant: bool, *, seed: int) -> tuple:
    """(items, items left out, mean, interval, reason); the interval is a percentile bootstrap over items."""
    found = np.array(list(values.values()))
    left_out = total - len(found)
    if not len(found):
        return 0, left_out, None, None, None, "no item has both texts"
    if constant:
        return len(found), left_out, None, None, None, "the metric does not vary"
    if len(found) == 1:
        return 1, left_out, float(found[0]), None, None, "no interval from one item"
    from scipy import stats

    result = stats.bootstrap((found,), np.mean, n_resamples=DRAWS, method="percentile", rng=np.random.default_rng(seed))
    low, high = map(float, result.confidence_interval)
    return len(found), left_out, float(found.mean()), low, high, ""


def _oriented(column: Column, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
    sign = 1 if column.metric.higher_is_better else -1
    return {key: sign * value for key, value in zip(keys, column.values, strict=True) if value is not None}


def _constant(scores: Mapping[Any, float]) -> bool:
    return len(set(scores.values())) <= 1


def _adjacent(noises: Mapping[str, tuple[str, float]]) -> list[tuple[str, float, float]]:
    found = []
    for base in dict.fromkeys(base for base, _ in noises.values()):
        levels = sorted({noise for other, noise in noises.values() if other == base})
        found += [(base, a, b) for a, b in itertools.pairwise(levels)]
    return found


def _at(noises: Mapping[str, tuple[str, float]], base: str, noise: float) -> list[str]:
    return [model for model, level in noises.items() if level == (base, noise)]
