"""Close-ended benchmarks by what models wrote, beside table 20's accuracy by log-likelihood."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ..metrics.generated_accuracy import NAME
from ._scores import PUBLISHED, scores_sheet
from .base import Table

if TYPE_CHECKING:
    import pandas as pd

FAMILIES = ("choices",)


def generated(means: pd.DataFrame) -> pd.Series:
    """Rows of the accuracy of answers in text."""
    return means["metric"] == NAME


TABLE = Table(
    name="generated_accuracy",
    slug="generated_accuracy",
    title="Close-ended benchmarks by what the models wrote",
    caption=(
        "Accuracy: the share of items whose answer in text states the right option. Answers that state none, or "
        "several, count as wrong; the CSV counts them as n_unparsed. MMLU: plain mean of its subjects."
    ),
    covers=lambda benchmark: benchmark.kind == "multiple_choice",
    families=FAMILIES,
    resources=(PUBLISHED,),
    build=partial(scores_sheet, families=FAMILIES, keep=generated, benchmarks_across=True),
)
