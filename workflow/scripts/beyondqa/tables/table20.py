"""Paper 1, table 20: accuracy on the close-ended benchmarks."""

from __future__ import annotations

from ._scores import scores_sheet
from .base import Table

FAMILIES = ("likelihood",)

TABLE = Table(
    name="table20",
    slug="table20_close_ended",
    title="Table 20: close-ended benchmarks",
    caption=(
        "Accuracy (share of items whose most probable option is the right one), by the log-likelihoods of the options "
        "without length normalisation. MMLU: plain mean of its subjects."
    ),
    covers=lambda benchmark: benchmark.kind == "multiple_choice" and "likelihoods" in benchmark.stages,
    families=FAMILIES,
    build=lambda inputs: scores_sheet(inputs, keep=lambda means: means["metric"] == "accuracy", families=FAMILIES),
)
