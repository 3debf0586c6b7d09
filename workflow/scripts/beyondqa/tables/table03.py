"""Paper 1, table 3: examples of CareQA."""

from __future__ import annotations

from ..benchmarks.base import lettered
from ..statistics.careqa import CLOSED, is_careqa, one_a_category, read_sets
from ..statistics.inputs import Inputs
from .base import Sheet, Table, explanation


def build(inputs: Inputs) -> Sheet:
    """One closed question a category, with its options and the right one."""
    import pandas as pd

    items = read_sets(inputs).get(CLOSED)
    if not items:
        return explanation("The study has no items of CareQA.")
    rows = [
        {
            "category": item.metadata.get("category", ""),
            "year": item.metadata.get("year", ""),
            "item_id": item.id,
            "question": item.question,
            "options": lettered(item.options),
            "answer": item.options[item.gold],
        }
        for item in one_a_category(items)
    ]
    data = pd.DataFrame(rows)
    display = data.drop(columns="item_id").astype(str)
    display.columns = ["Category", "Year", "Question", "Options", "Right option"]
    note = "Of each category the question of median length in words, the first by id where several have it."
    return Sheet(data, display, (note, *inputs.benchmark_notes([CLOSED])))


TABLE = Table(
    name="table03",
    slug="table03_careqa_examples",
    title="Table 3: examples of CareQA",
    caption="A question of each examination with its four options.",
    covers=is_careqa,
    needs=("careqa",),
    build=build,
)
