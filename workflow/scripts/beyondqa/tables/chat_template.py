"""What a chat template changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..statistics.inputs import Inputs, stand_in_label, stand_in_notes
from ..statistics.labels import metric_rank
from ._scores import cell_text, number
from .base import MISSING, Sheet, Table, explanation

if TYPE_CHECKING:
    import pandas as pd


def build(inputs: Inputs) -> Sheet:
    """One row a (benchmark, model, metric), closed benchmarks first; what is no headline stands in the CSV alone."""
    import pandas as pd

    data = inputs.read("chat_template")
    if not len(data):
        return explanation("The config names no model to be asked with and without (chat_template_study).")
    data = data.assign(kind=[inputs.benchmarks[name]["kind"] for name in data["benchmark"]])
    orders = {"benchmark": list(inputs.benchmarks).index, "model": list(inputs.models).index, "metric": metric_rank}
    data = data.sort_values(
        ["kind", "benchmark", "model", "metric"],
        key=lambda column: column.map(orders.get(column.name, str)),
        kind="stable",
        ignore_index=True,
    )
    shown = data[data["headline"].astype(bool) | data["group"].str.startswith("perplexity[")]
    display = [
        {
            "Benchmark": inputs.title(row["benchmark"]),
            "Model": inputs.label(row["model"]),
            "Metric": stand_in_label(row["label"], row["stand_in"]),
            "Items": str(row["n"]),
            "Without": _number(row["off"]),
            "With": _number(row["on"]),
            "Difference": cell_text(row["difference"], row["ci_low"], row["ci_high"]),
            "Empty answers": f"{row['n_empty_off']} → {row['n_empty_on']}",
            "Remark": row["reason"],
        }
        for row in shown.to_dict("records")
    ]
    return Sheet(data, pd.DataFrame(display), tuple(_notes(inputs, shown)))


def _number(value: float) -> str:
    return MISSING if value != value else number(value)


def _notes(inputs: Inputs, data: pd.DataFrame) -> list[str]:
    lower = list(dict.fromkeys(data.loc[~data["higher_is_better"].astype(bool), "label"]))
    cut = [int(data.groupby(["model", "benchmark"])[f"n_prompt_cut_{side}"].max().sum()) for side in ("off", "on")]
    return [
        "Difference: with the template less without it, with a 95 % bootstrap interval over items, an item's two "
        "scores drawn together. Items without a value on either side are left out of both.",
        *([f"Lower is better for {', '.join(lower)}; higher is better for the rest."] if lower else []),
        "Perplexities are given the prompt: that of the reference alone, which the other tables show, no template can "
        "change. With the template the prompt is the user's message and the answer starts after the model's turn "
        "marker.",
        *([f"Prompts that did not fit and were cut: {cut[0]} without it, {cut[1]} with it."] if any(cut) else []),
        "Not compared: what a judge says of the answers, and the entities of EntQA.",
        *stand_in_notes(dict(zip(data["label"], data["stand_in"], strict=True))),
        *inputs.model_notes(list(data["model"])),
        *inputs.benchmark_notes(list(data["benchmark"])),
    ]


TABLE = Table(
    name="chat_template",
    slug="chat_template",
    title="What a chat template changes",
    caption=(
        "Chosen models asked with their chat template and without it, greedy answers and log-likelihoods. Paper 1 "
        "(Limitations) says that with it multiple-choice scores fell and open-ended ones rose, and used none."
    ),
    covers=lambda benchmark: True,
    needs=("chat_template",),
    build=build,
)
