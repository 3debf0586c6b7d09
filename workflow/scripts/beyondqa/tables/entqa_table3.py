"""Paper 2, table 3: model size against each metric."""

from __future__ import annotations

from ..entqa import published
from ..statistics.inputs import Inputs
from . import _entqa
from .base import Sheet, Table, explanation

COLUMNS = {"spearman": "spearman", "kendall": "kendall", "pearson": "pearson"}


def build(inputs: Inputs) -> Sheet:
    """One row a (benchmark, metric)."""
    import pandas as pd

    level = _entqa.statistic(inputs, "scale")
    if not len(level):
        return explanation("No EntQA score of a model of known size is in the study.")
    data = published.beside(level, _entqa.published_table(inputs), COLUMNS)
    display = [
        {
            "Benchmark": inputs.title(row["benchmark"]),
            "Metric": _entqa.label(row),
            "Answers": str(row["n"]),
            "Spearman": _entqa.coefficient(row["spearman"], row["spearman_low"], row["spearman_high"]),
            "q (naive)": _entqa.p_value(row["q_spearman"]),
            "Published": _entqa.coefficient(row["spearman_published"]),
            "Difference": _entqa.coefficient(row["spearman_difference"]),
            "Kendall": _entqa.coefficient(row["kendall"]),
            "Published (Kendall)": _entqa.coefficient(row["kendall_published"]),
            "Difference (Kendall)": _entqa.coefficient(row["kendall_difference"]),
            "Size groups": str(row["groups"]),
            "Spearman of groups": _entqa.coefficient(row["group_spearman"]),
            "Kendall of groups": _entqa.coefficient(row["group_kendall"]),
        }
        for _, row in data.iterrows()
        if _entqa.is_shown(row["metric"])
    ]
    sentences = (
        "Model size in parameters against the value of each answer, as the paper's code has it. In brackets: 95 % "
        f"bootstrap interval over cases; the naive p takes answers to one case for independent. {_entqa.Q}",
        "The paper's text describes averages in four size groups (below 5, up to 13, up to 40 billion parameters, and "
        "above): the last columns correlate the groups' order with their means. Four groups allow no p-value.",
    )
    return Sheet(data, pd.DataFrame(display), _entqa.notes(inputs, data, *sentences))


TABLE = Table(
    name="entqa_table3",
    slug="entqa_table3_scale",
    title="EntQA, table 3: metrics and model size",
    caption="Correlation over answers of model size and each metric.",
    covers=_entqa.covers,
    needs=("entqa_scale",),
    families=("entqa", "entqa_baselines"),
    resources=(published.path(3),),
    build=build,
)
