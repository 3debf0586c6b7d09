"""What each metric can see: edits of texts, and noise on a model's weights."""

from __future__ import annotations

from collections import Counter

from ..sensitivity.preferences import NEEDS, all_comparisons
from ..statistics.inputs import Inputs, stand_in_label, stand_in_notes
from ..statistics.labels import metric_rank
from ._coefficients import coefficient
from .base import Sheet, Table, explanation

CAPTION = (
    "The probability that a metric prefers a harmless edit of a text to another edit, or the answer of the less noisy "
    "of two models; 0.5 is blind. The noise shows sensitivity to gross loss of fluency, not to clinical error."
)
NOTES = (
    "Probability: ties count half; each item counts once; 95 % intervals from a bootstrap over items.",
    "Edits: a negation, a number times ten, an antonym, another item's entity of the same type; 25, 50 and 75 % of the "
    "sentences dropped; another item's text. Harmless ones: a synonym or an abbreviation spelled out, a unit spelled "
    "out. An edited reference or recorded answer is scored against the reference as it was; of an edited target a "
    "model tells the probability, and the less perplexing one is preferred.",
)


def build(inputs: Inputs) -> Sheet:
    """One row a (text, check, comparison, metric)."""
    import pandas as pd

    data = all_comparisons(inputs.read)
    if not len(data):
        return explanation("The study has no open benchmark and no derived model.")
    data = data.sort_values("metric", key=lambda c: c.map(metric_rank), kind="stable", ignore_index=True)
    display = [
        {
            "Metric": stand_in_label(row.metric, row.stand_in),
            "Text": row.source,
            "Check": row.check,
            "Comparison": row.comparison.replace("_", " "),
            "Items": str(row.n_items),
            "Left out": str(row.n_not_applicable),
            "Probability": coefficient(row.probability, row.ci_low, row.ci_high),
            "Remark": row.reason,
        }
        for row in data.itertuples()
    ]
    notes = (
        *NOTES,
        *applied(inputs),
        *seed_notes(inputs),
        *stand_in_notes(dict(zip(data["metric_label"], data["stand_in"], strict=True))),
        *inputs.model_notes(list(inputs.models)),
    )
    return Sheet(data, pd.DataFrame(display), notes)


def applied(inputs: Inputs) -> list[str]:
    """To how many texts of each source every edit could be applied."""
    counts = inputs.read("applicability")
    sentences = []
    for source, own in counts.groupby("source", sort=False) if len(counts) else ():
        parts = [f"{row.kind.replace('_', ' ')} {row.n_texts}" for row in own.itertuples()]
        total = own["n_texts"].iloc[0] + own["n_not_applicable"].iloc[0]
        sentences.append(f"Of {total} texts ({source}) an edit could be applied to: {', '.join(parts)}.")
    return sentences


def seed_notes(inputs: Inputs) -> list[str]:
    """How many seeds of noise each level has."""
    levels = Counter(entry["noise"] for entry in inputs.models.values() if entry.get("derived_from"))
    counts = ", ".join(f"{count} at {noise:g}" for noise, count in sorted(levels.items()))
    return [f"Seeds of the noise: {counts}. An item's value is the mean over all pairs of models that it has."] * bool(
        levels
    )


TABLE = Table(
    name="sensitivity",
    slug="sensitivity",
    title="Sensitivity of the metrics",
    caption=CAPTION,
    covers=lambda benchmark: True,
    needs=(*NEEDS, "applicability"),
    build=build,
)
