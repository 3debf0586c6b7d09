"""What EntQA's tables share: reading a statistic, ordering, and the notes below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..benchmarks.base import Benchmark
from ..entqa import published
from ..statistics.inputs import Inputs, stand_in_label, stand_in_notes
from .base import MISSING

if TYPE_CHECKING:
    import pandas as pd

Q = "q: p after Benjamini-Hochberg over the metrics of a benchmark."
PAPER_LABELS = {"bleu1": "BLEU-1", "bleu4": "BLEU-4"}


def covers(benchmark: Benchmark) -> bool:
    """The benchmarks of EntQA."""
    return benchmark.task == "entqa"


def statistic(inputs: Inputs, name: str) -> pd.DataFrame:
    """Rows of statistics/entqa/{name} for the covered benchmarks, in the study's order."""
    import pandas as pd

    from ..records import read_csv

    frames = [frame for frame in map(read_csv, inputs.files.get(f"entqa_{name}", ())) if len(frame)]
    if not frames:
        return pd.DataFrame()
    order = {benchmark: i for i, benchmark in enumerate(inputs.benchmarks)}
    joined = pd.concat(frames, ignore_index=True)
    joined = joined[joined["benchmark"].isin(order)]
    return joined.sort_values("benchmark", key=lambda names: names.map(order), kind="stable", ignore_index=True)


def published_table(inputs: Inputs) -> pd.DataFrame:
    """The published table that the analysis names first among its resources."""
    return published.read(inputs.files["resources"][0])


def is_shown(metric: str) -> bool:
    """Whether a table shows the metric: the paper's own, EntQA in every variant, length and copied share.

    The CSV holds the rest of what the baselines' modules give.
    """
    return published.published_name(metric) is not None or metric.startswith(("entqa_", "length[", "copied_share["))


def label(row: pd.Series) -> str:
    """A metric's label, the paper's where it has its own, marked where the metric stands in for another."""
    own = published.published_name(row["metric"]) or ""
    return stand_in_label(PAPER_LABELS.get(own, row["label"]), _text(row["stand_in"]))


def coefficient(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """A coefficient with its sign, and its interval where there is one."""
    if value is None or value != value:
        return MISSING
    text = f"{value:+.3f}"
    return text if low is None or low != low else f"{text} [{low:+.3f}, {high:+.3f}]"


def p_value(value: float | None) -> str:
    """A p-value with four decimals."""
    if value is None or value != value:
        return MISSING
    return f"{value:.4f}" if value >= 5e-5 else "<0.0001"


def notes(inputs: Inputs, data: pd.DataFrame, *sentences: str) -> tuple[str, ...]:
    """The sentences, why cells are missing, what partial benchmarks, derived models and stand-ins are."""
    shown = data[data["metric"].map(is_shown)]
    reasons = sorted({_text(reason) for reason in shown.get("reason", ())} - {""})
    labels: dict[str, list[str]] = {}
    for row in shown.drop_duplicates("metric").to_dict("records"):
        labels.setdefault(_text(row["stand_in"]), []).append(row["label"])
    stand_ins = {" / ".join(names): real for real, names in labels.items()}
    return (
        *sentences,
        "BLEU-1 and BLEU-4 are the unigram and the 4-gram precision, as the paper's code has them. EntQA, the length "
        "and the copied share aside, metrics compare the explanation with the question that was put.",
        *([f"{MISSING}: {'; '.join(reasons)}."] if reasons else []),
        *inputs.benchmark_notes(list(data["benchmark"])),
        *inputs.model_notes(list(inputs.models)),
        *stand_in_notes(stand_ins),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
