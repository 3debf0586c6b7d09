"""Paper 1, table 4: statistics of CareQA, closed and open."""

from __future__ import annotations

from ..statistics.careqa import TOKENIZER, is_careqa, read_sets, token_statistics
from ..statistics.inputs import Inputs
from .base import Sheet, Table, explanation

LABELS = {
    "category": "Category",
    "items": "Items",
    "question_max": "Longest question",
    "question_mean": "Mean question",
    "answer_max": "Longest answer",
    "answer_mean": "Mean answer",
    "vocabulary": "Vocabulary",
}


def build(inputs: Inputs) -> Sheet:
    """One row a set and category."""
    import pandas as pd

    sets = read_sets(inputs)
    rows = [
        {"benchmark": name, **row, "tokenizer": TOKENIZER}
        for name, items in sets.items()
        for row in token_statistics(items)
    ]
    if not rows:
        return explanation("The study has no items of CareQA.")
    data = pd.DataFrame(rows)
    display = data[list(LABELS)].map(lambda value: f"{value:.2f}" if isinstance(value, float) else str(value))
    display = display.rename(columns=LABELS)
    display.insert(0, "Set", [inputs.title(name) for name in data["benchmark"]])
    notes = (
        "Tokens are what stands between blanks; the paper does not name its tokenizer.",
        "Answers: all options of a closed question, the reference of an open one. Vocabulary: distinct tokens of "
        "questions and answers, case and punctuation kept.",
    )
    return Sheet(data, display, (*notes, *inputs.benchmark_notes(list(sets))))


TABLE = Table(
    name="table04",
    slug="table04_careqa_statistics",
    title="Table 4: CareQA in numbers",
    caption="Number of items, lengths in tokens and vocabulary, by category.",
    covers=is_careqa,
    needs=("careqa",),
    build=build,
)
