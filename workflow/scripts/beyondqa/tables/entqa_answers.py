"""Paper 2's answers: how many are right, unparsed, without an explanation, copied or cut."""

from __future__ import annotations

from ..statistics.inputs import Inputs
from . import _entqa
from .base import MISSING, Sheet, Table, explanation

COUNTS = {
    "n": "Answers",
    "n_unparsed": "No option stated",
    "n_empty": "No explanation",
    "n_copied": "Copied",
    "n_cut": "Cut at the token limit",
}


def build(inputs: Inputs) -> Sheet:
    """One row a (benchmark, model)."""
    import pandas as pd

    data = _entqa.statistic(inputs, "answers")
    if not len(data):
        return explanation("No EntQA score is in the study.")
    display = [
        {
            "Benchmark": inputs.title(row["benchmark"]),
            "Model": inputs.label(row["model"]),
            "Accuracy": _number(row["accuracy"], ".3f"),
            "Mean length (words)": _number(row["mean_length"], ".0f"),
            **{title: str(row[name]) for name, title in COUNTS.items()},
        }
        for row in data.to_dict("records")
    ]
    notes = (
        "An answer that states no option counts as wrong, one without an explanation scores 0.",
        "Copied: half of the explanation, or of the case, is copied word for word in runs of eight words or more. "
        "EntQA rewards that.",
        *inputs.benchmark_notes(list(data["benchmark"])),
        *inputs.model_notes(list(data["model"])),
    )
    return Sheet(data, pd.DataFrame(display), notes)


def _number(value: float, form: str) -> str:
    return MISSING if value != value else format(value, form)


TABLE = Table(
    name="entqa_answers",
    slug="entqa_answers",
    title="EntQA: the answers",
    caption="What each model answered, and what could not be read.",
    covers=_entqa.covers,
    needs=("entqa_answers",),
    families=("entqa",),
    build=build,
)
