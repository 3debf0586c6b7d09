"""Paper 2, table 2: being right against each metric, case by case."""

from __future__ import annotations

from ..entqa import published
from ..statistics.inputs import Inputs
from . import _entqa
from .base import Sheet, Table, explanation

ESTIMATES = {
    "point_biserial": "Point-biserial",
    "within_case": "Within case",
    "within_model": "Within model",
    "doubly_centred": "Doubly centred",
    "given_length": "Given length",
}


def build(inputs: Inputs) -> Sheet:
    """One row a (benchmark, metric)."""
    import pandas as pd

    level = _entqa.statistic(inputs, "case_level")
    if not len(level):
        return explanation("No EntQA score is in the study.")
    data = published.beside(level, _entqa.published_table(inputs), {"point_biserial": "pointbiserial"})
    display = [
        {
            "Benchmark": inputs.title(row["benchmark"]),
            "Metric": _entqa.label(row),
            "Answers": str(row["n"]),
            "Cases": str(row["n_cases"]),
            **{
                title: _entqa.coefficient(row[name], row[f"{name}_low"], row[f"{name}_high"])
                for name, title in ESTIMATES.items()
            },
            "p (naive)": _entqa.p_value(row["p"]),
            "q (naive)": _entqa.p_value(row["q"]),
            "Published": _entqa.coefficient(row["point_biserial_published"]),
            "Difference": _entqa.coefficient(row["point_biserial_difference"]),
        }
        for _, row in data.iterrows()
        if _entqa.is_shown(row["metric"])
    ]
    sentences = (
        "Every case is answered by every model, so that the answers are not independent. In brackets: 95 % bootstrap "
        "interval over cases, which keeps a case's answers together; the naive p, which is the paper's, does not. "
        f"{_entqa.Q}",
        "Within case: case means removed, so that hard cases cannot make the correlation. Within model: model means "
        "removed. Doubly centred: both, over the cases that every model has. Given length: partial, given the log of "
        "1 + words of the explanation.",
        "A missing explanation counts 0; the variant as_coded_dropping leaves it out, as the paper's code does.",
    )
    return Sheet(data, pd.DataFrame(display), _entqa.notes(inputs, data, *sentences))


TABLE = Table(
    name="entqa_table2",
    slug="entqa_table2_cases",
    title="EntQA, table 2: metrics and right answers, case by case",
    caption="Correlation over answers of being right and each metric.",
    covers=_entqa.covers,
    needs=("entqa_case_level",),
    families=("entqa", "entqa_baselines"),
    resources=(published.path(2),),
    build=build,
)
