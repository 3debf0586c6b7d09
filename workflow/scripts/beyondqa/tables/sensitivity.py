"""What each metric can see: edits of texts, and noise on a model's weights."""

from __future__ import annotations

from ..statistics.inputs import Inputs
from ..statistics.labels import metric_rank
from ._coefficients import coefficient
from .base import Sheet, Table, explanation

CAPTION = (
    "The probability that a metric prefers a harmless edit of a text to another edit, or the answer of the less noisy "
    "of two models; 0.5 is blind. The noise shows sensitivity to gross loss of fluency, not to clinical error."
)
NOTES = (
    "Probability: ties count half; each item counts once; 95 % intervals from a bootstrap over items.",
    "Edits, of references: a negation, a number times ten, an antonym, another item's entity of the same type; 25, 50 "
    "and 75 % of the sentences dropped; another item's text. Harmless ones: a synonym or an abbreviation spelled out, "
    "a unit spelled out. Each edited text is scored against the reference as it was.",
)


def build(inputs: Inputs) -> Sheet:
    """One row a (check, comparison, metric)."""
    import pandas as pd

    frames = [frame for frame in (inputs.read("corruptions"), inputs.read("ladder")) if len(frame)]
    if not frames:
        return explanation("The study has no open benchmark and no derived model.")
    data = pd.concat(frames, ignore_index=True)
    data = data.sort_values("metric", key=lambda c: c.map(metric_rank), kind="stable", ignore_index=True)
    display = [
        {
            "Metric": row.metric,
            "Check": row.check,
            "Comparison": row.comparison.replace("_", " "),
            "Items": str(row.n_items),
            "Left out": str(row.n_not_applicable),
            "Probability": coefficient(row.probability, row.ci_low, row.ci_high),
            "Remark": row.reason,
        }
        for row in data.itertuples()
    ]
    counts = [
        f"{r.kind.replace('_', ' ')} {r.n_items} of {r.n_items + r.n_not_applicable}"
        for r in inputs.read("applicability").itertuples()
    ]
    notes = [*NOTES, *([f"Texts that an edit could be applied to: {', '.join(counts)}."] if counts else [])]
    return Sheet(data, pd.DataFrame(display), (*notes, *inputs.model_notes(list(inputs.models))))


TABLE = Table(
    name="sensitivity",
    slug="sensitivity",
    title="Sensitivity of the metrics",
    caption=CAPTION,
    covers=lambda benchmark: True,
    needs=("corruptions", "applicability", "ladder"),
    build=build,
)
