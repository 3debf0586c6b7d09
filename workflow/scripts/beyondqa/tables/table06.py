"""Paper 1, table 6: relaxed cross-entropy of what an answer should say, on one item of each benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..items import OpenItem
from ..records import read_items
from ..relaxed_perplexity import one_signature, signature_of
from ..statistics.inputs import Inputs
from ..statistics.scores import read_with_metrics
from .base import MISSING, Sheet, Table, explanation

if TYPE_CHECKING:
    import pandas as pd

VALUES = {
    "relaxed_cross_entropy_sum": "Cross-entropy, sum",
    "relaxed_cross_entropy_mean": "Cross-entropy, mean",
    "relaxed_perplexity": "Relaxed Perplexity",
}
TEXTS = {"must_have": "must have", "nice_to_have": "nice to have", "reference": "reference"}
KEYS = ["benchmark", "item_id", "model", "text", "settings"]


def build(inputs: Inputs) -> Sheet:
    """One row a (benchmark, model, kind of text), for the benchmark's first scored item by id.

    Raises StudyError where the scores of the main variant are of several settings.
    """
    scores, metrics = read_with_metrics(inputs.files.get("relaxed_scores", ()))
    scores = scores[scores["benchmark"].isin(inputs.benchmarks)]
    if not len(scores):
        return explanation("Relaxed Perplexity was not computed in this study.")
    signature = one_signature(signature_of(name) for name, metric in metrics.items() if metric.headline)
    scores = scores[[signature_of(name) == signature for name in scores["metric"]]]
    data = _one_item_a_benchmark(scores)
    items = read_items(inputs.files["datasets"])
    data.insert(2, "statements", [_statements(items[i], t) for i, t in zip(data["item_id"], data["text"], strict=True)])
    models = [name for name in inputs.models if name in set(data["model"])]
    data = data.sort_values(
        ["benchmark", "text", "settings", "model"],
        key=lambda column: column.map({m: n for n, m in enumerate(models)}) if column.name == "model" else column,
    )
    notes = [
        "Each value is the mean over seeds of the mean over the item's statements of that kind, with the standard "
        "deviation over seeds (population) after ±. Cross-entropies in nats.",
        "The published values fit a mean over positions: compare their order with the cross-entropy, mean.",
        *inputs.model_notes(models),
        *inputs.benchmark_notes(list(inputs.benchmarks)),
    ]
    return Sheet(data, _display(inputs, data), tuple(notes))


def _one_item_a_benchmark(scores: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard deviation over seeds of each value, a row a KEYS."""
    scores = scores.astype(dict.fromkeys(("benchmark", "item_id", "model", "metric"), "str"))
    first = scores.groupby("benchmark")["item_id"].min()
    scores = scores[scores["item_id"] == scores["benchmark"].map(first)]
    named = scores["metric"].str.extract(r"^(?P<name>[^\[]+)\[(?P<text>[^,]+),(?P<settings>.*)\]$")
    scores = scores.join(named)
    scores = scores[scores["name"].isin(VALUES)]
    wide = scores.pivot_table(index=KEYS, columns="name", values="value", aggfunc=["mean", _deviation, "count"])
    wide.columns = [f"{name}_{what.strip('_')}" for what, name in wide.columns]
    return wide.reset_index()


def _deviation(values: pd.Series) -> float:
    return values.std(ddof=0)


def _statements(item: OpenItem, text: str) -> str:
    return " | ".join({"must_have": item.must_have, "nice_to_have": item.nice_to_have}.get(text, (item.reference,)))


def _display(inputs: Inputs, data: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    def cell(row: pd.Series, name: str) -> str:
        mean = row.get(f"{name}_mean")
        return MISSING if mean is None or pd.isna(mean) else f"{mean:.3f} ± {row[f'{name}_deviation']:.3f}"

    rows = [
        {
            "Benchmark": inputs.title(row["benchmark"]),
            "Model": inputs.label(row["model"]),
            "Text": TEXTS[row["text"]],
            "Statements": row["statements"],
            **{label: cell(row, name) for name, label in VALUES.items()},
            "Settings": row["settings"],
        }
        for _, row in data.iterrows()
    ]
    return pd.DataFrame(rows)


TABLE = Table(
    name="table06",
    slug="table06_relaxed_cross_entropy",
    title="Table 6: relaxed cross-entropy of single items",
    caption="What an answer must have and what is nice to have, and how probable a model makes it.",
    covers=lambda benchmark: benchmark.name in ("medtext", "olaph", "olaph_full", "careqa_open"),
    families=("relaxed",),
    needs=("relaxed_scores", "datasets"),
    build=build,
)
