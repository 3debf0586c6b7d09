"""Relaxed Perplexity with other numbers of samples, and of best ones among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..relaxed_perplexity import Settings, one_signature
from ..statistics.inputs import Inputs
from ..statistics.relaxed_grid import SHARED
from ._scores import cell_text, number
from .base import MISSING, Sheet, Table, explanation
from .table06 import TEXTS, VALUES

if TYPE_CHECKING:
    import pandas as pd

ROW, NUMBERS = ["benchmark", "model", "text", "name"], ["samples", "best"]


def build(inputs: Inputs) -> Sheet:
    """One row a (benchmark, model, kind of text, value), one column a pair of numbers.

    Raises StudyError where anything but these two numbers differs between the scores.
    """
    import pandas as pd

    data = inputs.read("relaxed_grid")
    if not len(data):
        return explanation("The config compares no settings of Relaxed Perplexity (inference.relaxed_grid).")
    one_signature(
        Settings(best=1, samples=1, **dict(zip(SHARED, shared, strict=True))).signature
        for shared in data[list(SHARED)].drop_duplicates().itertuples(index=False)
    )
    orders = {"benchmark": inputs.benchmarks, "model": inputs.models, "text": TEXTS, "name": VALUES}
    shown = data[data["name"].isin(VALUES)].sort_values(
        [*ROW, *NUMBERS],
        key=lambda column: column.map(list(orders[column.name]).index) if column.name in orders else column,
    )
    first = data.iloc[0]
    display = [_row(inputs, first, key, part) for key, part in shown.groupby(ROW, sort=False)]
    notes = (
        "Each value is the mean over items of the mean over seeds, with the standard deviation over seeds (population) "
        "of the mean over items after ±; the CSV has the deviation within items too. The first s of the same "
        "completions are used.",
        f"In brackets: the difference from l = {first['best']}, s = {first['samples']} with its 95 % bootstrap "
        "interval over items.",
        f"n = {first['tokens']}, stride {first['stride']}, variant {first['variant']}, top-p {first['top_p']:g}, "
        f"temperature {first['temperature']:g}; {first['seeds']} seeds; at most {data['n'].max()} items a benchmark. "
        "Cross-entropies in nats.",
        *inputs.model_notes(list(data["model"])),
        *inputs.benchmark_notes(list(data["benchmark"])),
    )
    return Sheet(data, pd.DataFrame(display), notes)


def _row(inputs: Inputs, first: pd.Series, key: tuple[str, ...], part: pd.DataFrame) -> dict[str, str]:
    benchmark, model, text, name = key
    cells = {
        f"l = {row['best']}, s = {row['samples']}": _cell(row, with_difference=any(row[n] != first[n] for n in NUMBERS))
        for row in part.to_dict("records")
    }
    head = (inputs.title(benchmark), inputs.label(model), TEXTS[text], VALUES[name])
    return {**dict(zip(("Benchmark", "Model", "Text", "Value"), head, strict=True)), **cells}


def _cell(row: dict, *, with_difference: bool) -> str:
    if row["mean"] != row["mean"]:
        return MISSING
    text = f"{number(row['mean'])} ± {number(row['deviation'])}"
    difference = cell_text(row["difference"], row["ci_low"], row["ci_high"])
    return f"{text} ({difference})" if with_difference else text


TABLE = Table(
    name="relaxed_grid",
    slug="relaxed_grid",
    title="Relaxed Perplexity: completions sampled and completions that count",
    caption=(
        "The l best of s sampled completions, on some items of each benchmark. Paper 1 tried l of 5 and 10 and s of 10 "
        "and 100 and saw no difference; it also calls the metric self-consistent: the deviation over seeds shows how "
        "far that holds."
    ),
    covers=lambda benchmark: True,
    needs=("relaxed_grid",),
    build=build,
)
