"""One value a model (weighted accuracy, a benchmark's metric) against every metric of every benchmark."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from .correlation import CORRELATION_COLUMNS, adjusted, correlate
from .matrices import comparable

if TYPE_CHECKING:
    import pandas as pd

# Accuracy by log-likelihood, and by what models wrote where nothing has log-likelihoods (recorded answers).
ACCURACIES = ("accuracy", "accuracy[generated]")


def accuracy_rows(means: pd.DataFrame) -> pd.Series:
    """Rows of the means that hold the accuracy of record: by log-likelihood, else by the text written."""
    for name in ACCURACIES:
        if (means["metric"] == name).any():
            return means["metric"] == name
    return means["metric"] == ACCURACIES[0]


def weighted_accuracy(means: pd.DataFrame) -> pd.Series:
    """Accuracy over the multiple choice benchmarks of the means, weighted by their numbers of questions,
    by model. Models that lack one of the benchmarks have no value (paper 1, section 3)."""
    rows = means[accuracy_rows(means)]
    wide = rows.pivot(index="model", columns="benchmark", values="mean")
    weights = rows.groupby("benchmark")["n"].max().reindex(wide.columns)
    complete = wide.dropna()
    return (complete * weights).sum(axis=1) / weights.sum()


def against(values: pd.Series, means: pd.DataFrame) -> pd.DataFrame:
    """Correlations of `values` (by model) with every headline metric of every benchmark of `means`.

    Perplexities enter as logarithms, and metrics whose lower values are better with their sign changed. One
    row a (benchmark, metric): `label`, `stand_in`, CORRELATION_COLUMNS and the q-values over all rows.
    """
    import pandas as pd

    means = means[means["headline"].astype(bool)]
    means = means.assign(value=comparable(means, oriented=True))
    others = means.pivot(index="model", columns=["benchmark", "metric"], values="value").reindex(values.index)
    described = means.drop_duplicates(["benchmark", "metric"])[["benchmark", "metric", "label", "stand_in"]]
    rows = [
        {**about, **correlate(values, others[about["benchmark"], about["metric"]])}
        for about in described.to_dict("records")
    ]
    frame = pd.DataFrame(rows, columns=["benchmark", "metric", "label", "stand_in", *CORRELATION_COLUMNS])
    return adjusted(frame.assign(by_construction=False))


def by_task(rows: pd.DataFrame, tasks: Mapping[str, str]) -> pd.DataFrame:
    """The mean of Pearson's r over a task's benchmarks, one row a (task, metric): `pearson`, `n_benchmarks`
    (that have an r) and `significant`, how many of them have q < .05. `tasks`: benchmark -> task."""
    defined = rows[rows["pearson"].notna()].assign(task=lambda frame: frame["benchmark"].map(tasks))
    cells = defined.groupby(["task", "metric", "label"], sort=False)
    return cells.agg(
        pearson=("pearson", lambda r: float(np.mean(r.astype(float)))),
        n_benchmarks=("pearson", "size"),
        significant=("pearson_q", lambda q: int((q < 0.05).sum())),
        n_least=("n", "min"),
        n_most=("n", "max"),
    ).reset_index()


# Paper 1, figure 1, speaks of its smaller models without a list: here up to 15 billion parameters.
SMALLER = 15
ACCURACY_COLUMNS = ("models", "left_out")


def accuracy_correlations(
    means: pd.DataFrame,
    questions: Collection[str],
    parameters: Mapping[str, float | None],
    families: Mapping[str, str],
) -> pd.DataFrame:
    """Weighted accuracy over the multiple choice benchmarks `questions` against all other benchmarks.

    The columns of `against` after ACCURACY_COLUMNS: `models` is "all" or "smaller" (not known
    to have more than SMALLER parameters), `left_out` the base-model family that is left out, "" for none.
    """
    import pandas as pd

    asked = means["benchmark"].isin(questions)
    accuracy = weighted_accuracy(means[asked])
    sizes = {"all": list(accuracy.index), "smaller": [m for m in accuracy.index if not (parameters[m] or 0) > SMALLER]}
    parts = []
    for models, names in sizes.items():
        for left_out in ["", *sorted({families[name] for name in names if families[name]})]:
            kept = [name for name in names if not left_out or families[name] != left_out]
            rows = against(accuracy.reindex(kept), means[~asked])
            rows.insert(0, "models", models)
            rows.insert(1, "left_out", left_out)
            parts.append(rows)
    return pd.concat([p for p in parts if len(p)] or parts, ignore_index=True)
