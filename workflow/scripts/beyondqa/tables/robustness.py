"""Metric by metric correlations with everything that they may owe to something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..statistics.inputs import Inputs, stand_in_label, stand_in_notes
from ..statistics.robustness import WEAK
from ._coefficients import coefficient, p_value
from .base import MISSING, Sheet, Table, explanation

if TYPE_CHECKING:
    import pandas as pd


def build(inputs: Inputs) -> Sheet:
    """One row a benchmark and pair of metrics."""
    import pandas as pd

    pairs = inputs.metric_correlations
    if not len(pairs):
        return explanation("No two metrics were scored on one benchmark.")
    data = pairs.merge(family_range(inputs.left_out), on=["benchmark", "a", "b"], how="left")
    display = [
        {
            "Benchmark": inputs.title(row["benchmark"]),
            "Metric": stand_in_label(row["a_label"], row["a_stand_in"]),
            "Other metric": stand_in_label(row["b_label"], row["b_stand_in"]),
            "n": str(row["n"]),
            "Pearson": coefficient(row["pearson"], row["pearson_low"], row["pearson_high"]),
            "q": p_value(row["pearson_q"]),
            "Over items": _interval(row["pearson_items_low"], row["pearson_items_high"]),
            "Spearman": coefficient(row["spearman"]),
            "Kendall": coefficient(row["kendall"]),
            "Without a family": _range(row),
            "Given length": coefficient(row["pearson_given_length"]),
            "Disattenuated": coefficient(row["pearson_disattenuated"]),
            "Weak": "yes" if row["weak"] else "not shown",
            "Remark": "; ".join(filter(None, [row["reason"], "by construction" * bool(row["by_construction"])])),
        }
        for row in data.to_dict("records")
    ]
    named = [zip(data[f"{side}_label"], data[f"{side}_stand_in"], strict=True) for side in "ab"]
    stand_ins = {label: real for pairs in named for label, real in pairs}
    notes = [
        "Pearson: in brackets the 95 % interval over models (Fisher's z); q: Benjamini-Hochberg over the benchmark's "
        "matrix, pairs by construction left out. Over items: 95 % bootstrap interval with the models fixed.",
        "Without a family: least and greatest r with one base-model family left out at a time. Prometheus is based on "
        "a Mistral model: the rows without the family mistral are its own check.",
        "Given length: partial r given log(1 + mean length in words). Disattenuated: r over the root of the product of "
        "both reliabilities; beyond 1 where the reliabilities are estimated too low, and then no correlation.",
        "Perplexities enter as logarithms; no sign is changed, so that a metric where lower is better goes against the "
        "others.",
        f"Weak: the interval over models lies within ±{WEAK}. A wide interval shows nothing, nor does a q above 0.05.",
        *stand_in_notes(stand_ins),
        *inputs.model_notes(list(inputs.models)),
        *inputs.benchmark_notes(list(data["benchmark"])),
        *inputs.twin_notes(list(dict.fromkeys(data["benchmark"]))),
    ]
    return Sheet(data, pd.DataFrame(display), tuple(notes))


def family_range(left_out: pd.DataFrame) -> pd.DataFrame:
    """Least and greatest Pearson's r of every pair over the families left out, and which family that was."""
    import pandas as pd

    names = ["least", "least_without", "greatest", "greatest_without"]
    rows = left_out[left_out["pearson"].notna()] if len(left_out) else left_out
    if not len(rows):
        return pd.DataFrame(columns=["benchmark", "a", "b", *names])
    groups = rows.groupby(["benchmark", "a", "b"])["pearson"]
    least, greatest = rows.loc[groups.idxmin()], rows.loc[groups.idxmax()]
    found = [side.set_index(["benchmark", "a", "b"])[["pearson", "left_out"]] for side in (least, greatest)]
    return pd.concat(found, axis=1).set_axis(names, axis=1).reset_index()


def _range(row: dict) -> str:
    if row["least"] != row["least"]:
        return MISSING
    ends = [f"{coefficient(row[e])} ({row[f'{e}_without']})" for e in ("least", "greatest")]
    return " to ".join(ends)


def _interval(low: float, high: float) -> str:
    return MISSING if low != low else f"[{coefficient(low)}, {coefficient(high)}]"


TABLE = Table(
    name="robustness",
    slug="correlation_robustness",
    title="Correlations of metrics, and what they may owe to something else",
    caption="Every pair of headline metrics on every benchmark, over models.",
    covers=lambda benchmark: True,
    needs=("metric_correlations", "families", "means"),
    build=build,
)
