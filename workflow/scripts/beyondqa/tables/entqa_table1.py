"""Paper 2, table 1: accuracy of the models against each metric's mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..entqa import analyses, published
from ..statistics.inputs import Inputs
from . import _entqa
from .base import Sheet, Table, explanation

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {"spearman": "spearman", "kendall": "kendall", "pearson": "pearson"}


def build(inputs: Inputs) -> Sheet:
    """One row a (benchmark, metric), and one a metric over all benchmarks."""
    import pandas as pd

    level = _entqa.statistic(inputs, "group_level")
    if not len(level):
        return explanation("No EntQA score is in the study.")
    data = published.beside(level, _entqa.published_table(inputs), COLUMNS)
    display = [
        {
            "Benchmark": inputs.title(row["benchmark"]),
            "Metric": _entqa.label(row),
            "Models": str(row["n"]),
            "Spearman": _entqa.coefficient(row["spearman"], row["spearman_low"], row["spearman_high"]),
            "p": _entqa.p_value(row["spearman_p"]),
            "q": _entqa.p_value(row["spearman_q"]),
            "Published": _entqa.coefficient(row["spearman_published"]),
            "Difference": _entqa.coefficient(row["spearman_difference"]),
            "Kendall": _entqa.coefficient(row["kendall"]),
            "p (Kendall)": _entqa.p_value(row["kendall_p"]),
            "Published (Kendall)": _entqa.coefficient(row["kendall_published"]),
            "Difference (Kendall)": _entqa.coefficient(row["kendall_difference"]),
        }
        for _, row in data.iterrows()
        if _entqa.is_shown(row["metric"])
    ]
    if data["benchmark"].nunique() > 1:
        display += _over_benchmarks(data)
    sentences = (
        "Each model counts once: the accuracy of all its answers against the mean of the metric's defined values. In "
        "brackets: 95 % interval by Fisher's z. p: exact over all orders of the models; the published p-values of "
        f"Spearman's rho are t-approximations. {_entqa.Q}",
        "What tells EntQA from the other metrics is the sign: a metric may follow accuracy closely and backwards. "
        "Where there are several benchmarks, the last rows give the mean over them and the mean size.",
    )
    return Sheet(data, pd.DataFrame(display).fillna(""), _entqa.notes(inputs, data, *sentences))


def _over_benchmarks(data: pd.DataFrame) -> list[dict[str, str]]:
    labels = {row["metric"]: _entqa.label(row) for _, row in data.iterrows() if _entqa.is_shown(row["metric"])}
    return [
        {
            "Benchmark": "All: mean, mean size",
            "Metric": labels[row["metric"]],
            "Models": f"in {row['n']} of {data['benchmark'].nunique()} benchmarks",
            "Spearman": f"{row['mean']:+.3f}, {row['mean_size']:.3f}",
        }
        for row in analyses.signs(data, "spearman").to_dict("records")
        if row["metric"] in labels
    ]


TABLE = Table(
    name="entqa_table1",
    slug="entqa_table1_models",
    title="EntQA, table 1: metrics and the accuracy of models",
    caption="Correlation over models of accuracy and each metric's mean.",
    covers=_entqa.covers,
    needs=("entqa_group_level",),
    families=("entqa", "entqa_baselines"),
    resources=(published.path(1),),
    build=build,
)
