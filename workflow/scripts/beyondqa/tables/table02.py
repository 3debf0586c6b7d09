"""Paper 1, table 2: human evaluation of the translation and of the two rephrasing iterations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..human_evaluation import EVALUATIONS, TITLES
from ..records import read_csv
from ..statistics.careqa import is_careqa
from ..statistics.inputs import Inputs
from .base import MISSING, Sheet, Table

if TYPE_CHECKING:
    import pandas as pd

PUBLISHED = "resources/published/human_evaluation.csv"
QUANTITIES = {
    "at_least_1": "At least one of three",
    "at_least_2": "At least two of three",
    "all_3": "All three",
    "all_of_the_item": "All of the item's",
    "unanimous": "Evaluators unanimous",
    "pairwise": "Pairs that agree",
    "krippendorff_alpha": "Krippendorff's alpha",
}


KEYS = ["evaluation", "origin", "category"]
COLUMNS = [*KEYS, "quantity", "value", "ci_low", "ci_high", "n", "reason", "source"]


def build(inputs: Inputs) -> Sheet:
    """Rows are evaluations and categories; published figures stand in rows of their own."""
    import pandas as pd

    published = read_csv(inputs.files["resources"][0]).assign(category="all", origin="published")
    own = [read_csv(path).assign(origin="this study") for path in inputs.files["human_evaluation"]]
    data = pd.concat([*own, published], ignore_index=True).reindex(columns=COLUMNS)
    data = data.sort_values("evaluation", key=lambda names: names.map(EVALUATIONS.index), kind="stable")
    notes = [
        "Share of items that so many evaluators hold to be correct, with Wilson's 95 % interval. For an item with more "
        "than three evaluators it is the mean over all choices of three, since the share that all of them accept falls "
        "with their number; that share stands beside it.",
        "Published: what the paper's text gives; its shares for two evaluators and its agreement are not known.",
    ]
    if not own:
        notes.append("This study has no filled sheets: `snakemake human_evaluation_sheets` writes empty ones.")
    return Sheet(data, _display(data), tuple(notes))


def _display(data: pd.DataFrame) -> pd.DataFrame:
    import pandas as pd

    cells = data.assign(
        cell=[_cell(row.quantity, row.value, row.ci_low, row.ci_high) for row in data.itertuples()],
        evaluation=data["evaluation"].map(TITLES),
    )
    in_order = pd.MultiIndex.from_frame(cells[KEYS].drop_duplicates())
    wide = cells.pivot(index=KEYS, columns="quantity", values="cell").reindex(index=in_order, columns=list(QUANTITIES))
    items = cells[cells["quantity"] == "all_3"].set_index(KEYS)["n"].reindex(in_order)
    wide.insert(0, "Items", [MISSING if pd.isna(n) else f"{n:,.0f}" for n in items])
    wide = wide.astype(object).fillna(MISSING).rename(columns=QUANTITIES)
    return wide.reset_index().rename(columns=str.capitalize)


def _cell(quantity: str, value: float, low: float, high: float) -> str:
    if math.isnan(value):
        return MISSING
    if quantity == "krippendorff_alpha":
        return f"{value:.2f}"
    return f"{value:.1%}" if math.isnan(low) else f"{value:.1%} [{low:.1%}, {high:.1%}]"


TABLE = Table(
    name="table02",
    slug="table02_human_evaluation",
    title="Table 2: human evaluation",
    caption="Items of CareQA and CareQA-Open that human evaluators hold to be correct, and how far they agree.",
    covers=is_careqa,
    needs=("human_evaluation",),
    resources=(PUBLISHED,),
    build=build,
)
