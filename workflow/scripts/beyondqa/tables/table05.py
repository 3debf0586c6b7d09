"""Paper 1, table 5: closed questions of CareQA beside the open ones made from them."""

from __future__ import annotations

from ..benchmarks.base import lettered
from ..statistics.careqa import is_careqa, one_a_category, pairs, read_sets
from ..statistics.inputs import Inputs
from .base import Sheet, Table, explanation


def build(inputs: Inputs) -> Sheet:
    """One pair a category and open set."""
    import pandas as pd

    sets = read_sets(inputs)
    found = {open_item.id: (closed, open_item) for closed, open_item in pairs(sets)}
    if not found:
        return explanation("No open question of the study says which closed question it was made from.")
    chosen = []
    for name in sets:
        own = [open_item for _, open_item in found.values() if open_item.benchmark == name]
        chosen += [found[item.id] for item in one_a_category(own)]
    data = pd.DataFrame(
        {
            "benchmark": open_item.benchmark,
            "category": closed.metadata.get("category", ""),
            "closed_id": closed.id,
            "open_id": open_item.id,
            "closed_question": closed.question,
            "options": lettered(closed.options),
            "open_question": open_item.question,
            "answer": open_item.reference,
        }
        for closed, open_item in chosen
    )
    display = data[["category", "closed_question", "options", "open_question", "answer"]].astype(str)
    display.columns = ["Category", "Closed question", "Options", "Open question", "Answer"]
    display.insert(0, "Open set", [inputs.title(name) for name in data["benchmark"]])
    notes = (f"{len(found):,} open questions of the study name their closed question; one a category is shown.",)
    return Sheet(data, display, (*notes, *inputs.benchmark_notes(list(sets))))


TABLE = Table(
    name="table05",
    slug="table05_closed_and_open_pairs",
    title="Table 5: closed and open questions",
    caption="Questions of CareQA beside the open-ended questions that were made from them.",
    covers=is_careqa,
    needs=("careqa",),
    build=build,
)
