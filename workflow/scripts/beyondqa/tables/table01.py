"""Paper 1, table 1: tasks, metrics and benchmarks."""

from __future__ import annotations

from ..records import read_json
from ..statistics.inputs import Inputs
from .base import MISSING, Sheet, Table


def build(inputs: Inputs) -> Sheet:
    """One row a task; the data hold one row a benchmark."""
    import pandas as pd

    rows = read_json(inputs.files["overview"][0])
    tasks: dict[str, list[dict]] = {}
    for row in rows:
        tasks.setdefault(row["task"], []).append(row)
    display = pd.DataFrame(
        {
            "Task": task,
            "Metrics": ", ".join(dict.fromkeys(label for row in group for label in row["metrics"])) or MISSING,
            "Benchmarks": ", ".join(inputs.title(row["benchmark"]) for row in group),
        }
        for task, group in tasks.items()
    )
    data = pd.DataFrame([{**row, "metrics": ", ".join(row["metrics"])} for row in rows])
    stand_ins = any("‡" in label for row in rows for label in row["metrics"])
    notes = ["‡ stand-in for a metric whose model is not at hand."] * stand_ins
    return Sheet(data, display, (*notes, *inputs.benchmark_notes(list(inputs.benchmarks))))


TABLE = Table(
    name="table01",
    slug="table01_tasks",
    title="Table 1: tasks, metrics and benchmarks",
    caption="What the models of this study are asked, and the metrics that score their answers.",
    covers=lambda benchmark: True,
    needs=("overview",),
    build=build,
)
