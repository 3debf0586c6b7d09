"""Paper 1, figure 3: an example of CareQA, closed and open."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from ..benchmarks.base import lettered
from ..items import Item, MultipleChoiceItem
from ..statistics.careqa import is_careqa, one_a_category, pairs, read_sets
from ..statistics.inputs import Inputs
from ._style import new
from .base import Drawing, Figure, explanation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WRAP = 116  # characters of a line across the picture
LINE_HEIGHT = 0.155  # inches


def draw(inputs: Inputs) -> Drawing:
    """Two cards where an open question names its closed one, else a card a set."""
    import pandas as pd

    sets = read_sets(inputs)
    items = _example(sets)
    if not items:
        return explanation("The study has no items of CareQA.")
    cards = [_card(item, WRAP // len(items) - 2) for item in items]
    height = 0.5 + LINE_HEIGHT * max(card.count("\n") + 1 for card in cards)
    picture, panels = new(height, len(items))
    for axes, item, card in zip(panels, items, cards, strict=True):
        _draw_card(axes, inputs.title(item.benchmark), card)
    data = pd.DataFrame(
        {"benchmark": item.benchmark, "item_id": item.id, "text": card} for item, card in zip(items, cards, strict=True)
    )
    return Drawing(picture, data, tuple(inputs.benchmark_notes([item.benchmark for item in items])))


def _example(sets: dict[str, list[Item]]) -> list[Item]:
    found = pairs(sets)
    if found:
        chosen = one_a_category([closed for closed, _ in found])[0]
        return [chosen, next(open_item for closed, open_item in found if closed.id == chosen.id)]
    return [one_a_category(items)[0] for items in sets.values()]


def _card(item: Item, width: int) -> str:
    closed = isinstance(item, MultipleChoiceItem)
    lines = [*textwrap.wrap(item.question, width), ""]
    if closed:
        for number, option in enumerate(lettered(item.options).split("\n")):
            lines += textwrap.wrap(f"{option}{' ✓' * (number == item.gold)}", width)
    else:
        lines += textwrap.wrap(f"Answer: {item.reference}", width)
    facts = [str(item.metadata[name]) for name in ("category", "year") if item.metadata.get(name)]
    return "\n".join([*lines, "", ", ".join(facts)]).rstrip()


def _draw_card(axes: Axes, title: str, card: str) -> None:
    axes.set_axis_off()
    axes.set_title(title, loc="left", fontweight="bold")
    axes.text(
        0.02,
        0.97,
        card.replace("$", r"\$"),
        ha="left",
        va="top",
        transform=axes.transAxes,
        fontsize=7.5,
        linespacing=1.35,
    )
    axes.add_patch(_frame(axes))


def _frame(axes: Axes):
    from matplotlib.patches import FancyBboxPatch

    return FancyBboxPatch(
        (0, 0),
        1,
        1,
        boxstyle="round,pad=0,rounding_size=0.02",
        transform=axes.transAxes,
        facecolor="0.97",
        edgecolor="0.6",
        zorder=-1,
    )


FIGURE = Figure(
    name="figure03",
    slug="fig03_careqa_example",
    title="Figure 3: an example of CareQA",
    caption="A closed question with its options and, where it is known, the open question that was made from it.",
    covers=is_careqa,
    needs=("careqa",),
    draw=draw,
)
