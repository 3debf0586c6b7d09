"""Weighted multiple choice accuracy against every metric of every other benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..statistics.inputs import Inputs, stand_in_label, stand_in_notes
from ..statistics.labels import metric_rank
from ..statistics.robustness import is_weak
from ._coefficients import coefficient, p_value
from .base import Sheet, Table, explanation

if TYPE_CHECKING:
    import pandas as pd


def build(inputs: Inputs) -> Sheet:
    """One row a (benchmark, metric); the CSV also has the smaller models alone and every family left out."""
    import pandas as pd

    data = inputs.accuracy_correlations
    if not len(data):
        return explanation("No multiple choice accuracy could be set against another benchmark.")
    order = {name: i for i, name in enumerate(inputs.benchmarks)}
    data = data.sort_values(
        ["benchmark", "metric"],
        key=lambda names: names.map(order.get if names.name == "benchmark" else metric_rank),
        kind="stable",
        ignore_index=True,
    )
    whole = data[(data["models"] == "all") & (data["left_out"] == "")]
    keys = ["benchmark", "metric"]
    smaller = data[(data["models"] == "smaller") & (data["left_out"] == "")].set_index(keys)
    left_out = data[(data["models"] == "all") & (data["left_out"] != "")].groupby(keys)["pearson"].agg(["min", "max"])
    display = [_row(inputs, row, smaller, left_out) for row in whole.to_dict("records")]
    notes = [
        "Accuracy over the multiple choice benchmarks, weighted by their numbers of questions. Perplexities enter "
        "as logarithms; metrics whose lower values are better with their sign changed. q: Benjamini-Hochberg over "
        "the table.",
        "Without a family: least and greatest r with one base-model family left out at a time.",
        *stand_in_notes(dict(zip(whole["label"], whole["stand_in"], strict=True))),
        *inputs.model_notes(list(inputs.models)),
        *inputs.benchmark_notes(list(whole["benchmark"])),
    ]
    return Sheet(data, pd.DataFrame(display), tuple(notes))


def _row(inputs: Inputs, row: dict, smaller: pd.DataFrame, left_out: pd.DataFrame) -> dict[str, str]:
    key = (row["benchmark"], row["metric"])
    few = smaller.loc[key] if key in smaller.index else None
    ends = left_out.loc[key] if key in left_out.index else None
    return {
        "Benchmark": inputs.title(row["benchmark"]),
        "Metric": stand_in_label(row["label"], row["stand_in"]),
        "n": str(row["n"]),
        "Pearson": coefficient(row["pearson"], row["pearson_low"], row["pearson_high"]),
        "q": p_value(row["pearson_q"]),
        "Spearman": coefficient(row["spearman"]),
        "Kendall": coefficient(row["kendall"]),
        "Smaller models": "" if few is None else f"{coefficient(few['pearson'])} (n = {few['n']})",
        "Without a family": "" if ends is None else f"{coefficient(ends['min'])} to {coefficient(ends['max'])}",
        "Weak": "yes" if is_weak(row["pearson_low"], row["pearson_high"]) else "not shown",
        "Remark": row["reason"],
    }


TABLE = Table(
    name="accuracy",
    slug="accuracy_correlations",
    title="Multiple choice accuracy against every other benchmark",
    caption="The coefficients behind figure 1, for all models.",
    covers=lambda benchmark: benchmark.task not in ("multiple_choice", "entqa"),
    needs=("accuracy_correlations",),
    build=build,
)
