"""Paper 1, figure 7: correctness by category, as human evaluators see it."""

from __future__ import annotations

from ..human_evaluation import EVALUATIONS, TITLES
from ..records import read_csv
from ..statistics.careqa import is_careqa
from ..statistics.inputs import Inputs
from ._style import PALETTE, beside, new
from .base import Drawing, Figure, explanation

SHARES = {"at_least_1": "at least one of three", "at_least_2": "at least two", "all_3": "all three"}


def draw(inputs: Inputs) -> Drawing:
    """A panel an evaluation, a row a category, three shares with their intervals."""
    import pandas as pd

    if not inputs.files["human_evaluation"]:
        return explanation("The study has no filled sheets of human evaluators; `human_evaluation.filled` names them.")
    data = pd.concat([read_csv(path) for path in inputs.files["human_evaluation"]], ignore_index=True)
    data = data[data["quantity"].isin(SHARES)]
    found = [name for name in EVALUATIONS if name in set(data["evaluation"])]
    categories = list(dict.fromkeys(data["category"]))
    picture, panels = new(1.2 + 0.36 * len(categories), len(found), sharex=True, sharey=True)
    colours = dict(zip(SHARES, PALETTE, strict=False))
    for axes, evaluation in zip(panels, found, strict=True):
        for number, (quantity, label) in enumerate(SHARES.items()):
            rows = data[(data["evaluation"] == evaluation) & (data["quantity"] == quantity)].dropna(subset="value")
            places = [categories.index(category) + 0.25 * (number - 1) for category in rows["category"]]
            spread = beside(rows["value"], rows["ci_low"], rows["ci_high"])
            axes.errorbar(
                rows["value"],
                places,
                xerr=spread,
                fmt="o",
                markersize=4,
                linewidth=1,
                color=colours[quantity],
                label=label,
            )
        axes.set_yticks(range(len(categories)), categories)
        axes.set_ylim(len(categories) - 0.5, -0.5)
        axes.set_xlim(None, 1.01)
        axes.set_xlabel("Share held to be correct")
        axes.set_title(TITLES[evaluation])
        axes.grid(visible=False, axis="y")
    handles, labels = panels[0].get_legend_handles_labels()
    picture.legend(handles, labels, loc="outside lower center", ncols=len(SHARES))
    return Drawing(picture, data)


FIGURE = Figure(
    name="figure07",
    slug="fig07_correctness_by_category",
    title="Figure 7: correctness by category",
    caption=(
        "Share of items that human evaluators hold to be correct, by category, with Wilson's 95 % interval. For items "
        "with more than three evaluators, the mean over all choices of three."
    ),
    covers=is_careqa,
    needs=("human_evaluation",),
    draw=draw,
)
