"""How often a metric prefers the better of two texts about the same item."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..metrics.base import Metric
from ..scoring import score_pairs
from .corruptions import CONTROL, GRADED, HARMFUL, HARMLESS
from .edits import ORIGINAL, SOURCES, Edit

if TYPE_CHECKING:
    import pandas as pd

DRAWS = 2000
# Values nearer than this share of them are equal: what is beyond depends on the order of sums and on the batch.
TIE = 1e-6
CHECKS = {**dict.fromkeys(HARMFUL, "harmful"), **dict.fromkeys(GRADED, "graded"), CONTROL: "control"}
COLUMNS = (
    "metric",
    "metric_label",
    "stand_in",
    "headline",
    "source",
    "check",
    "comparison",
    "n_items",
    "n_not_applicable",
    "probability",
    "ci_low",
    "ci_high",
    "reason",
)
# The files of comparisons that a table or figure reads, by need.
NEEDS = ("corruptions", "targets", "ladder")
# An edited text by its kind and whose text about which item it is: (kind, (item id, model)).
Key = tuple[str, tuple[str, str]]


def corruption_preferences(edits: Sequence[Edit], modules: Mapping[str, Any], *, seed: int) -> pd.DataFrame:
    """For every metric of the modules (metric module -> its settings), source of texts and kind of edit, the
    probability that a harmless edit of a text scores above that edit of it: COLUMNS."""
    import pandas as pd

    scored = [edit for edit in edits if edit.kind != ORIGINAL]
    places: dict[tuple[str, str], int] = {}
    rows = [places.setdefault((edit.text, edit.reference), len(places)) for edit in scored]
    columns, _ = score_pairs(list(places), modules)
    frames = [
        kind_preferences(edits, scored, [column.values[row] for row in rows], column.metric, seed=seed)
        for column in columns.values()
    ]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(COLUMNS))


def evaluate(
    score: Callable[[list[str], list[str]], Iterable[float | None]],
    edits: Sequence[Edit],
    *,
    name: str = "metric",
    higher_is_better: bool = True,
    seed: int = 0,
) -> pd.DataFrame:
    """Any metric on the benchmark of edited texts: COLUMNS, a row a source of texts and kind of edit.

    `score(predictions, references)` gives one value a pair, None where it has none; `edits` come from `read_edits`.
    """
    scored = [edit for edit in edits if edit.kind != ORIGINAL]
    values = list(score([edit.text for edit in scored], [edit.reference for edit in scored]))
    return kind_preferences(edits, scored, values, Metric(name, name, higher_is_better, None, None), seed=seed)


def kind_preferences(
    edits: Sequence[Edit], scored: Sequence[Edit], values: Sequence[float | None], metric: Metric, *, seed: int
) -> pd.DataFrame:
    """COLUMNS for one metric with a value for each of the `scored` edits."""
    import pandas as pd

    rows = []
    for source in SOURCES:
        items = {edit.item_id for edit in edits if edit.source == source}
        pairs = [(edit, value) for edit, value in zip(scored, values, strict=True) if edit.source == source]
        scores = {_key(edit): value for edit, value in pairs if value is not None}
        rows += comparisons(scores, metric, source, len(items), seed=seed) if items else []
    return pd.DataFrame(rows, columns=list(COLUMNS))


def comparisons(scores: Mapping[Key, float], metric: Metric, source: str, total: int, *, seed: int) -> Iterator[tuple]:
    """A row of COLUMNS for each kind of edit, from its scores as the metric gives them; `total` items have a text.

    `n_not_applicable` counts the items whose texts lack the edit or every harmless one.
    """
    sign = 1 if metric.higher_is_better else -1
    oriented = {key: sign * value for key, value in scores.items()}
    constant = len(set(oriented.values())) <= 1
    for kind, check in CHECKS.items():
        result = summary(harmless_above(oriented, kind), total, constant, seed=seed)
        yield (*_described(metric), source, check, kind, *result)


def harmless_above(scores: Mapping[Key, float], kind: str) -> dict[str, float]:
    """Item -> how the harmless edits of its texts stand to the edit of that kind; higher scores are better.

    A text's value is the mean, over its harmless edits, of 1 (above), 0.5 (tie) or 0; an item's the mean of its
    texts (one a model).
    """
    values = defaultdict(list)
    for other, text in scores:
        if other == kind:
            standings = [preference(scores[h, text], scores[kind, text]) for h in HARMLESS if (h, text) in scores]
            if standings:
                values[text[0]].append(float(np.mean(standings)))
    return {item: float(np.mean(of_texts)) for item, of_texts in values.items()}


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
            better, worse = (table.reindex(columns=_at(noises, base, level)).to_numpy() for level in (cleaner, noisier))
            values = _over_pairs(better, worse)
            comparison = f"{base}: {cleaner:g} over {noisier:g}"
            result = summary(values, len(table), constant, seed=seed)
            rows.append((*_described(metrics[name]), LADDER_SOURCE, "ladder", comparison, *result))
    return pd.DataFrame(rows, columns=list(COLUMNS))


LADDER_SOURCE = "model's answer"
_KEYS = ["metric", "benchmark", "item_id", "model"]


def all_comparisons(read: Callable[[str], pd.DataFrame]) -> pd.DataFrame:
    """COLUMNS of all NEEDS, an empty frame where the study has none; `read` gives the frame of a need."""
    import pandas as pd

    frames = [frame for frame in map(read, NEEDS) if len(frame)]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=list(COLUMNS))


def preference(better: np.ndarray | float, worse: np.ndarray | float) -> np.ndarray:
    """1 where the better text scores higher, 0.5 for a tie (within TIE), 0 otherwise; NaN where a score is."""
    tied = np.abs(np.subtract(better, worse)) <= TIE * np.maximum(np.abs(better), np.abs(worse))
    values = np.where(tied, 0.5, np.greater(better, worse).astype(float))
    return np.where(np.isnan(better) | np.isnan(worse), np.nan, values)


def _over_pairs(better: np.ndarray, worse: np.ndarray) -> dict[int, float]:
    """Row (item) -> the mean over all pairs of columns that have a score, from arrays (items, models)."""
    standings = preference(better[:, :, None], worse[:, None, :]).reshape(len(better), -1)
    known = ~np.isnan(standings).all(axis=1)
    return dict(zip(np.flatnonzero(known).tolist(), np.nanmean(standings[known], axis=1).tolist(), strict=True))


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


def _described(metric: Metric) -> tuple[str, str, str, bool]:
    return metric.name, metric.label, metric.stand_in, metric.headline


def _key(edit: Edit) -> Key:
    return edit.kind, (edit.item_id, edit.model)


def _adjacent(noises: Mapping[str, tuple[str, float]]) -> list[tuple[str, float, float]]:
    found = []
    for base in dict.fromkeys(base for base, _ in noises.values()):
        levels = sorted({noise for other, noise in noises.values() if other == base})
        found += [(base, a, b) for a, b in itertools.pairwise(levels)]
    return found


def _at(noises: Mapping[str, tuple[str, float]], base: str, noise: float) -> list[str]:
    return [model for model, level in noises.items() if level == (base, noise)]
