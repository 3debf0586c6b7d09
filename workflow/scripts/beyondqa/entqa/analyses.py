"""EntQA's three tables as statistics: models, cases, and model size.

Inputs are `cases`: one row an answer with `benchmark`, `item_id`, `model`, `size` (parameters in billions),
`accuracy` (1 where the option is right), `length` (words of the explanation), and one column a metric.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..identity import derived_seed
from ..statistics.aggregation import resamples
from ..statistics.correlation import COEFFICIENTS, CORRELATION_COLUMNS, correlate, is_constant

if TYPE_CHECKING:
    import pandas as pd

    from ..metrics.base import Metric

ACCURACY = "entqa_accuracy"
LENGTH = "length[explanation]"
ANSWER_FLAGS = ("unparsed", "empty", "copied", "cut")
DRAWS = 2000
ESTIMATES = ("point_biserial", "within_case", "within_model", "doubly_centred", "given_length")

# The paper's size groups, as its plots have them: largest size in billions of parameters -> label. The first
# ends below 5.
SIZE_GROUPS = {np.nextafter(5.0, 0.0): "<3B", 13.0: "~10B", 40.0: "32B", np.inf: "72B"}


def case_frame(scores: pd.DataFrame, sizes: Mapping[str, float | None]) -> pd.DataFrame:
    """`cases` of long scores (records.SCORE_COLUMNS); `sizes` are parameters by model, in billions."""
    import pandas as pd

    keys = ["benchmark", "item_id", "model"]
    named = scores.astype(dict.fromkeys([*keys, "metric"], str))
    wide = named.pivot(index=keys, columns="metric", values="value").reset_index().rename_axis(columns=None)
    wide = wide.reindex(columns=list(dict.fromkeys([*wide.columns, ACCURACY, LENGTH])))
    size = pd.to_numeric(wide["model"].map(sizes))
    return wide.assign(size=size, accuracy=wide[ACCURACY], length=wide[LENGTH]).drop(columns=ACCURACY)


def answers(scores: pd.DataFrame) -> pd.DataFrame:
    """What each model answered, one row a (benchmark, model): `n`, `accuracy`, `mean_length` in words, and how many
    answers state no option (`n_unparsed`), lack an explanation (`n_empty`), copy the case (`n_copied`) or reached the
    token limit (`n_cut`)."""
    import pandas as pd

    keys = ["benchmark", "model"]
    right = scores[scores["metric"] == ACCURACY]
    flags = {
        flag: right["flags"].astype(str).str.split(",").map(lambda f, flag=flag: flag in f) for flag in ANSWER_FLAGS
    }
    counted = right[keys].astype(str).assign(accuracy=right["value"], **flags).groupby(keys, sort=False)
    lengths = scores[scores["metric"] == LENGTH].astype(dict.fromkeys(keys, str)).groupby(keys)["value"].mean()
    table = pd.concat([counted.size().rename("n"), counted["accuracy"].mean(), lengths.rename("mean_length")], axis=1)
    return table.join(counted[list(ANSWER_FLAGS)].sum().add_prefix("n_")).reset_index()


def described(table: pd.DataFrame, metrics: Mapping[str, Metric]) -> pd.DataFrame:
    """`table` by benchmark and in the order of `metrics`, with each metric's `label`, `headline` and `stand_in`."""
    order = {name: i for i, name in enumerate(metrics)}
    benchmarks = {name: i for i, name in enumerate(dict.fromkeys(table["benchmark"]))}
    ordered = table.assign(
        label=[metrics[name].label for name in table["metric"]],
        headline=[metrics[name].headline for name in table["metric"]],
        stand_in=[metrics[name].stand_in for name in table["metric"]],
        _benchmark=table["benchmark"].map(benchmarks),
        _metric=table["metric"].map(order),
    )
    return ordered.sort_values(["_benchmark", "_metric"], kind="stable", ignore_index=True).drop(
        columns=["_benchmark", "_metric"]
    )


def metrics_of(cases: pd.DataFrame) -> list[str]:
    """The metric columns of `cases`."""
    return [name for name in cases.columns if "[" in name]


def group_level(cases: pd.DataFrame) -> pd.DataFrame:
    """Table 1: accuracy of the models against each metric's mean, one row a (benchmark, metric).

    The columns after `benchmark` and `metric` are those of `beyondqa.statistics.correlation.correlate`, and for
    each coefficient `_q`, its p after Benjamini-Hochberg over the metrics of the benchmark.
    """
    import pandas as pd

    rows = []
    for benchmark, part in cases.groupby("benchmark", sort=False):
        means = part.groupby("model", sort=False)[["accuracy", *metrics_of(cases)]].mean()
        rows += [
            {"benchmark": benchmark, "metric": metric, **correlate(means["accuracy"], means[metric])}
            for metric in metrics_of(cases)
            if part[metric].notna().any()
        ]
    table = pd.DataFrame(rows, columns=["benchmark", "metric", *CORRELATION_COLUMNS])
    return _with_q(table, {f"{name}_p": f"{name}_q" for name in COEFFICIENTS})


def case_level(cases: pd.DataFrame, *, seed: int, draws: int = DRAWS) -> pd.DataFrame:
    """Table 2: being right against each metric over all answers, one row a (benchmark, metric).

    `point_biserial` is the paper's: all answers as if independent, with its `p`, and `q` after Benjamini-Hochberg
    over the metrics of the benchmark. The cases are repeated over
    the models, so beside it stand the correlations `within_case` (case means removed), `within_model` (model
    means removed), `doubly_centred` (both, over the cases that every model has) and `given_length` (partial,
    given log(1 + words of the explanation)). Each has a 95 % percentile bootstrap interval (`_low`, `_high`)
    over cases, which keeps a case's answers together. None where undefined; `reason` says why.
    """
    import pandas as pd

    rows = [
        {
            "benchmark": benchmark,
            "metric": metric,
            **_case_level(part, metric, derived_seed(seed, "cases", benchmark), draws),
        }
        for benchmark, part in cases.groupby("benchmark", sort=False)
        for metric in metrics_of(cases)
        if part[metric].notna().any()
    ]
    bounds = [f"{name}{suffix}" for name in ESTIMATES for suffix in ("", "_low", "_high")]
    columns = ["benchmark", "metric", "n", "n_cases", "n_models", *bounds, "p", "n_complete_cases", "reason"]
    return _with_q(pd.DataFrame(rows, columns=columns), {"p": "q"})


def scale(cases: pd.DataFrame, *, seed: int, draws: int = DRAWS) -> pd.DataFrame:
    """Table 3: model size against each metric's per-case values, and against the means of the size groups.

    Per (benchmark, metric): `pearson`, `spearman`, `kendall` (tau-b) of the size with the values of all answers
    and their asymptotic p (`p_...`, answers as if independent; `q_...` after Benjamini-Hochberg over the metrics of
    the benchmark), an interval for `spearman` by bootstrap over cases; `groups`, the number of size groups with a
    model, and `group_spearman`, `group_kendall` of the groups' order with their means, as the paper's text
    describes the table.
    """
    import pandas as pd

    rows = [
        {
            "benchmark": benchmark,
            "metric": metric,
            **_scale(part, metric, derived_seed(seed, "scale", benchmark), draws),
        }
        for benchmark, part in cases.dropna(subset="size").groupby("benchmark", sort=False)
        for metric in metrics_of(cases)
        if part[metric].notna().any()
    ]
    per_case = [column for name in COEFFICIENTS for column in (name, f"p_{name}")]
    groups = ["groups", "group_spearman", "group_kendall"]
    columns = ["benchmark", "metric", "n", *per_case, "spearman_low", "spearman_high", *groups, "reason"]
    return _with_q(pd.DataFrame(rows, columns=columns), {f"p_{name}": f"q_{name}" for name in COEFFICIENTS})


def size_groups(cases: pd.DataFrame, *, seed: int, draws: int = DRAWS) -> pd.DataFrame:
    """Means of each metric by size group, scaled as in the paper's plots: (mean - median) / interquartile range,
    both of the groups' means.

    One row a (benchmark, metric, group): `order` of the group, `n` answers, `mean`, `scaled`, and a 95 %
    bootstrap interval of the group's mean over cases, on the scale of `scaled`. `scaled` is None where the
    interquartile range is 0, as with a single group.
    """
    import pandas as pd

    rows = []
    for benchmark, part in cases.dropna(subset="size").groupby("benchmark", sort=False):
        for metric in metrics_of(cases):
            kept = part.dropna(subset=metric)
            if len(kept):
                rows += _size_group_rows(benchmark, metric, kept, derived_seed(seed, "groups", benchmark), draws)
    columns = ["benchmark", "metric", "group", "order", "n", "mean", "scaled", "scaled_low", "scaled_high"]
    return pd.DataFrame(rows, columns=columns)


def size_group(size: float) -> int:
    """Position of a model's size (parameters in billions) among SIZE_GROUPS."""
    return int(np.searchsorted(list(SIZE_GROUPS), size))


def signs(level: pd.DataFrame, coefficient: str) -> pd.DataFrame:
    """Per metric, over the benchmarks: `mean` of a coefficient, `mean_size` (of its absolute value), `n`."""
    grouped = level.dropna(subset=coefficient).groupby("metric", sort=False)[coefficient]
    return grouped.agg(mean="mean", mean_size=lambda values: values.abs().mean(), n="size").reset_index()


def _with_q(table: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """`table` with the columns `names` (p -> q): Benjamini-Hochberg over the rows of a benchmark that have a p."""
    import pandas as pd
    from scipy.stats import false_discovery_control

    columns = {q: pd.Series(np.nan, index=table.index) for q in names.values()}
    for p, q in names.items():
        defined = pd.to_numeric(table[p]).dropna()
        for _, family in defined.groupby(table["benchmark"]):
            columns[q][family.index] = false_discovery_control(family.to_numpy(float), method="bh")
    return table.assign(**columns)


def _case_level(part: pd.DataFrame, metric: str, seed: int, draws: int) -> dict[str, Any]:
    from scipy.stats import pointbiserialr

    kept = part.dropna(subset=[metric, "accuracy"])
    x, y = kept[metric].to_numpy(float), kept["accuracy"].to_numpy(float)
    result = {"n": len(kept), "n_cases": kept["item_id"].nunique(), "n_models": kept["model"].nunique(), "reason": ""}
    if len(kept) < 3 or is_constant(x) or is_constant(y):
        return {**result, "reason": "too few answers" if len(kept) < 3 else "a column is constant"}
    result["p"] = float(pointbiserialr(y, x).pvalue)
    z = np.log1p(kept["length"].to_numpy(float))
    layout = _Layout.of(kept)
    whole = layout.complete
    result["n_complete_cases"] = int(whole.sum() / max(1, result["n_models"]))
    centred = [values - layout.case_mean(values) for values in (x, y)]
    counts = np.vstack([np.ones(layout.cases), resamples(layout.cases, None, draws=draws, seed=seed)])
    estimates = {
        "point_biserial": _pooled(layout, counts, x, y, by_model=False),
        "within_case": _pooled(layout, counts, *centred, by_model=False),
        "within_model": _pooled(layout, counts, x, y, by_model=True),
        "doubly_centred": _pooled(layout, counts, *centred, by_model=True, rows=whole),
        "given_length": _partial(
            _pooled(layout, counts, x, y, by_model=False),
            _pooled(layout, counts, x, z, by_model=False),
            _pooled(layout, counts, y, z, by_model=False),
        ),
    }
    for name, values in estimates.items():
        result[name] = _value(values[0])
        result[f"{name}_low"], result[f"{name}_high"] = _interval(values[1:])
    if any(result[name] is None for name in estimates):
        result["reason"] = "nothing varies within cases or models"
    return result


class _Layout:
    """Which case and model each answer belongs to, as numbers."""

    def __init__(self, case: np.ndarray, model: np.ndarray):
        self.case, self.model = case, model
        self.cases, self.models = int(case.max()) + 1, int(model.max()) + 1
        self.complete = np.bincount(case)[case] == self.models

    @classmethod
    def of(cls, answers: pd.DataFrame) -> _Layout:
        codes = [np.unique(answers[name], return_inverse=True)[1] for name in ("item_id", "model")]
        return cls(*codes)

    def case_mean(self, values: np.ndarray) -> np.ndarray:
        return (np.bincount(self.case, values) / np.bincount(self.case))[self.case]

    def sums(self, values: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Sums by (case, model)."""
        cell = self.case[rows] * self.models + self.model[rows]
        return np.bincount(cell, values[rows], minlength=self.cases * self.models).reshape(self.cases, self.models)


def _pooled(
    layout: _Layout, counts: np.ndarray, x: np.ndarray, y: np.ndarray, *, by_model: bool, rows: np.ndarray | None = None
) -> np.ndarray:
    """Pearson's r for each row of case multiplicities `counts`; with `by_model`, of deviations from model means.

    Everything is a sum over (case, model) cells, so that all resamples are one matrix product.
    """
    rows = np.ones(len(x), bool) if rows is None else rows
    x, y = x - x.mean(), y - y.mean()  # sums of squares lose digits to a large mean
    n, sx, sy, sxx, syy, sxy = (
        counts @ (cells if by_model else cells.sum(axis=1, keepdims=True))
        for cells in (layout.sums(v, rows) for v in (np.ones(len(x)), x, y, x * x, y * y, x * y))
    )
    safe = np.maximum(n, 1)
    cxx, cyy, cxy = ((s - a * b / safe).sum(axis=1) for s, a, b in ((sxx, sx, sx), (syy, sy, sy), (sxy, sx, sy)))
    noise = 1e-12 * np.array([sxx.sum(axis=1), syy.sum(axis=1)])
    defined = (cxx > noise[0]) & (cyy > noise[1])
    return np.divide(
        cxy, np.sqrt(cxx * cyy, where=defined, out=np.ones_like(cxx)), out=np.full(len(cxx), np.nan), where=defined
    )


def _partial(xy: np.ndarray, xz: np.ndarray, yz: np.ndarray) -> np.ndarray:
    """Partial correlation of x and y given z, from the three correlations."""
    left = (1 - xz**2) * (1 - yz**2)
    defined = left > 1e-12
    return np.divide(
        xy - xz * yz, np.sqrt(left, where=defined, out=np.ones_like(left)), out=np.full_like(xy, np.nan), where=defined
    )


def _scale(part: pd.DataFrame, metric: str, seed: int, draws: int) -> dict[str, Any]:
    from scipy import stats

    kept = part.dropna(subset=metric)
    size, values = kept["size"].to_numpy(float), kept[metric].to_numpy(float)
    result: dict[str, Any] = {"n": len(kept), "reason": "", **_group_correlations(kept, metric)}
    if len(kept) < 3 or is_constant(size) or is_constant(values):
        return {**result, "reason": "too few answers" if len(kept) < 3 else "a column is constant"}
    for name, found in (
        ("pearson", stats.pearsonr(size, values)),
        ("spearman", stats.spearmanr(size, values)),
        ("kendall", stats.kendalltau(size, values, method="asymptotic")),
    ):
        result[name], result[f"p_{name}"] = float(found.statistic), float(found.pvalue)
    layout = _Layout.of(kept)
    counts = resamples(layout.cases, None, draws=draws, seed=seed)
    ties = [np.unique(side, return_inverse=True)[1] for side in (size, values)]
    resampled = np.array([_weighted_spearman(*ties, row[layout.case]) for row in counts])
    result["spearman_low"], result["spearman_high"] = _interval(resampled)
    return result


def _weighted_spearman(x: np.ndarray, y: np.ndarray, weights: np.ndarray) -> float:
    """Spearman's rho of a sample in which row i stands `weights[i]` times; NaN where one side is constant.

    `x` and `y` hold, for each row, the position of its value among the distinct ones.
    """
    a, b = (_weighted_ranks(places, weights) for places in (x, y))
    a, b = (ranks - np.average(ranks, weights=weights) for ranks in (a, b))
    spread = np.sqrt((weights * a * a).sum() * (weights * b * b).sum())
    return float((weights * a * b).sum() / spread) if spread > 0 else np.nan


def _weighted_ranks(places: np.ndarray, weights: np.ndarray) -> np.ndarray:
    mass = np.bincount(places, weights)
    return (np.cumsum(mass) - mass / 2)[places]


def _group_correlations(kept: pd.DataFrame, metric: str) -> dict[str, Any]:
    means = kept.groupby(kept["size"].map(size_group))[metric].mean()
    found = correlate(means.index.to_numpy(float), means.to_numpy(float))
    return {"groups": len(means), "group_spearman": found["spearman"], "group_kendall": found["kendall"]}


def _size_group_rows(
    benchmark: str, metric: str, kept: pd.DataFrame, seed: int, draws: int
) -> Iterator[dict[str, Any]]:
    values = kept[metric].to_numpy(float)
    case = np.unique(kept["item_id"], return_inverse=True)[1]
    group = kept["size"].map(size_group).to_numpy()
    counts = resamples(int(case.max()) + 1, None, draws=draws, seed=seed)
    orders = np.unique(group)
    means = np.array([values[group == order].mean() for order in orders])
    low, median, high = np.percentile(means, [25, 50, 75])
    for order, mean in zip(orders, means, strict=True):
        rows = group == order
        row = {
            "benchmark": benchmark,
            "metric": metric,
            "group": list(SIZE_GROUPS.values())[order],
            "order": int(order),
            "n": int(rows.sum()),
            "mean": float(mean),
        }
        if not is_constant(means) and high > low:
            totals, sizes = (
                np.bincount(case[rows], w[rows], minlength=counts.shape[1]) for w in (values, np.ones(len(values)))
            )
            drawn = counts @ sizes
            resampled = np.divide(counts @ totals, drawn, out=np.full(len(drawn), np.nan), where=drawn > 0)
            bounds = _interval((resampled - median) / (high - low))
            row |= {"scaled": float((mean - median) / (high - low)), "scaled_low": bounds[0], "scaled_high": bounds[1]}
        yield row


def _value(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _interval(values: Sequence[float]) -> tuple[float | None, float | None]:
    """95 % percentile interval of the defined draws; None where fewer than 95 % of them are defined."""
    draws = np.asarray(values, float)
    defined = draws[~np.isnan(draws)]
    if len(defined) < 0.95 * len(draws) or not len(defined):
        return None, None
    low, high = np.percentile(defined, [2.5, 97.5])
    return float(low), float(high)
