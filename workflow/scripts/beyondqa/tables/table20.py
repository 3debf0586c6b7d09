"""Paper 1, table 20: close-ended benchmarks."""

from __future__ import annotations

from ..statistics.against import accuracy_rows
from ._scores import scores_table

TABLE = scores_table(
    20,
    "close_ended",
    "close-ended benchmarks",
    (
        "Accuracy: the share of items whose most probable option is the right one, by the log-likelihoods of the "
        "options without length normalisation; for recorded answers, the share of answers that state the right one. "
        "MMLU: plain mean of its subjects."
    ),
    covers=lambda benchmark: benchmark.kind == "multiple_choice" and benchmark.task != "entqa",
    families=("likelihood", "choices"),
    keep=accuracy_rows,
    benchmarks_across=True,
)
