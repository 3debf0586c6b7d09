"""Paper 1, figure 4: how CareQA-Open is made in two iterations, with human evaluators after each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..human_evaluation import TITLES
from ..records import read_csv
from ..statistics.careqa import is_careqa
from ..statistics.inputs import Inputs
from ._style import new
from .base import Drawing, Figure

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COUNTS, JUDGED = "resources/published/careqa_open_construction.csv", "resources/published/human_evaluation.csv"
# Steps in their order; what each does, and the human evaluation of what it keeps.
STEPS = {
    "start": ("CareQA, closed questions", "translation"),
    "keywords": ("Keyword filter", None),
    "rephrasing": ("Two rephrasings", None),
    "selection": ("Selection of the better version", "iteration_1"),
    "validation": ("Validation: only one valid answer", "iteration_2"),
}
BOX_WIDTH, BOX_HEIGHT, STEP_HEIGHT = 0.42, 0.72, 1.0
BESIDE = 0.47  # left edge of an evaluation, in widths of the picture


def draw(inputs: Inputs) -> Drawing:
    """A box a step with the questions that are left, in the paper and in this study; evaluations beside them."""
    data = _numbers(inputs)
    picture, (axes,) = new(0.85 * len(STEPS))
    axes.set_axis_off()
    axes.set_xlim(-0.005, 1.005)
    axes.set_ylim(-STEP_HEIGHT * len(STEPS) + 0.2, 0.2)
    for number, (step, (title, evaluation)) in enumerate(STEPS.items()):
        middle = -STEP_HEIGHT * number - BOX_HEIGHT / 2
        _box(axes, 0.0, middle, f"{title}\n{_left(data, step)}", "0.95")
        if number:
            _arrow(axes, BOX_WIDTH / 2, middle + STEP_HEIGHT - BOX_HEIGHT / 2, middle + BOX_HEIGHT / 2)
        if evaluation:
            _box(
                axes,
                BESIDE,
                middle,
                f"Correct for evaluators, {TITLES[evaluation].lower()}\n{_shares(data, evaluation)}",
                "#eaf2fa",
            )
            axes.plot([BOX_WIDTH, BESIDE], [middle, middle], color="0.5", linewidth=0.8, linestyle=":")
    notes = (
        ()
        if inputs.files["construction"]
        else ("The study does not rebuild the set: the paper's numbers stand alone.",)
    )
    return Drawing(picture, data, notes)


def _numbers(inputs: Inputs) -> pd.DataFrame:
    """Long rows: origin, step or evaluation, quantity, value."""
    import pandas as pd

    counts, judged = (read_csv(path).assign(origin="paper") for path in inputs.files["resources"])
    frames = [counts, judged.rename(columns={"evaluation": "step"})]
    for path in inputs.files["construction"]:
        own = read_csv(path)
        own = own[(own["category"] == "all") & (own["quantity"] == "questions")]
        kept = own[own["reason"] == "kept"].assign(quantity="questions")
        start = own[(own["reason"] == "all") & (own["step"] == "keywords")].assign(step="start")
        frames.append(pd.concat([start, kept]).rename(columns={"count": "value"}).assign(origin="this study"))
    for path in inputs.files["human_evaluation"]:
        own = read_csv(path)
        shares = own[(own["category"] == "all") & own["quantity"].isin(["at_least_1", "all_3"])]
        frames.append(shares.rename(columns={"evaluation": "step"}).assign(origin="this study"))
    return pd.concat(frames, ignore_index=True)[["origin", "step", "quantity", "value"]]


def _left(data: pd.DataFrame, step: str) -> str:
    rows = data[(data["step"] == step) & (data["quantity"] == "questions")]
    return "\n".join(f"{row.origin}: {row.value:,.0f} questions" for row in rows.itertuples()) or "paper: not stated"


def _shares(data: pd.DataFrame, evaluation: str) -> str:
    lines = []
    for origin, rows in data[data["step"] == evaluation].dropna(subset="value").groupby("origin", sort=True):
        shares = dict(zip(rows["quantity"], rows["value"], strict=True))
        parts = [f"{label} {shares[name]:.1%}" for name, label in _LABELS.items() if name in shares]
        lines.append(f"{origin}: {', '.join(parts)}")
    return "\n".join(lines)


_LABELS = {"at_least_1": "one or more of three", "all_3": "all three"}


def _box(axes: Axes, left: float, middle: float, text: str, colour: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    width = BOX_WIDTH if left == 0 else 1 - left
    shape = "round,pad=0,rounding_size=0.02"
    corner = (left, middle - BOX_HEIGHT / 2)
    axes.add_patch(FancyBboxPatch(corner, width, BOX_HEIGHT, boxstyle=shape, facecolor=colour, edgecolor="0.6"))
    axes.text(left + width / 2, middle, text, ha="center", va="center", fontsize=7.5, linespacing=1.4)


def _arrow(axes: Axes, x: float, start: float, end: float) -> None:
    style = {"arrowstyle": "-|>", "color": "0.4", "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=(x, end), xytext=(x, start), arrowprops=style)


FIGURE = Figure(
    name="figure04",
    slug="fig04_two_iterations",
    title="Figure 4: CareQA-Open in two iterations",
    caption=(
        "Questions that are left after each step of the construction, and what human evaluators hold of them. The "
        "paper drops 961 of 3,730 questions in the second iteration."
    ),
    covers=is_careqa,
    needs=("construction", "human_evaluation"),
    resources=(COUNTS, JUDGED),
    draw=draw,
)
