"""Paper 2, figure 2: one case with the entities that the answer takes up and those that it misses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..entqa import case_view
from ..entqa.case_view import COVERED, MISSING, Run
from ..statistics.inputs import Inputs
from ..tables._entqa import covers
from ._style import new
from .base import Drawing, Figure, explanation

COLUMNS = 100
LINE = 0.165  # inches
FONT = "DejaVu Sans Mono"
COLOURS = {COVERED: ("#cfe8d5", "#2e7d4f", "-"), MISSING: ("#fbe3cd", "#b5561b", ":")}
TITLES = {"background": "Background", "question": "Question", "explanation": "Explanation"}
LONGEST = 2500  # characters shown of a side


def draw(inputs: Inputs) -> Drawing:
    """The best answer to the case on which the models differ most."""
    import pandas as pd

    from ..records import read_json

    shown = [part for part in map(read_json, inputs.files.get("entqa_cases", ())) if part["cases"]]
    if not shown:
        return explanation("No EntQA score is in the study.")
    variant, answers = shown[0]["variant"], shown[0]["cases"][0]
    answer = max(answers, key=lambda d: case_view.recall(d["variants"][variant]["background"]) or 0.0)
    sides = answer["variants"][variant]
    lines = _lines(sides)
    picture, (axes,) = new(LINE * (len(lines) + 1), width=7.0)
    _write(axes, lines)
    data = pd.DataFrame(
        [
            {"side": name, "entity": entity, "covered": entity in side["covered"]}
            for name, side in sides.items()
            for entity in (*side["covered"], *side["missing"])
        ]
    )
    notes = (
        f"Case {answer['item_id']}, answer of {inputs.label(answer['model'])}: option {answer['letter'] or '-'}; "
        f"right is {answer['gold']}.",
        "Green, underlined: entities of the case that the answer takes up, and its own that stand in the "
        f"case. Orange, dotted: the others. The reading is {variant}.",
        *inputs.benchmark_notes([answer["benchmark"]]),
        *inputs.model_notes([answer["model"]]),
    )
    return Drawing(picture, data, notes)


def _lines(sides: Mapping[str, Any]) -> list[list[Run]]:
    lines: list[list[Run]] = []
    for name, side in sides.items():
        share = case_view.recall(side)
        lines.append([Run(TITLES[name] + ("" if share is None else f" ({share:.2f})"), "title")])
        text = {**side, "text": side["text"][:LONGEST]}
        text["spans"] = {
            e: [(s, min(t, LONGEST)) for s, t in places if s < LONGEST] for e, places in side["spans"].items()
        }
        lines += case_view.wrapped(case_view.runs(text), COLUMNS)
        lines += [[Run("[…]", "plain")]] if len(side["text"]) > LONGEST else []
        lines.append([])
    return lines[:-1]


def _write(axes, lines: Sequence[Sequence[Run]]) -> None:
    """Lines of monospaced text, so that a character is a unit wide and a line a unit high."""
    from matplotlib.patches import Rectangle

    axes.set_axis_off()
    axes.set_xlim(0, COLUMNS)
    axes.set_ylim(len(lines) + 0.5, -0.5)
    size = 7.0 * 72 / COLUMNS / 0.602 * 0.97  # a character of DejaVu Sans Mono is 0.602 em wide
    for row, line in enumerate(lines):
        column = 0
        for text, kind in line:
            if kind in COLOURS:
                fill, edge, style = COLOURS[kind]
                axes.add_patch(Rectangle((column, row - 0.38), len(text), 0.8, facecolor=fill, linewidth=0))
                axes.plot([column, column + len(text)], [row + 0.42] * 2, color=edge, linestyle=style, linewidth=0.8)
            # Word by word: the width of a long text strays from its cells.
            for word in re.finditer(r"\S+", text):
                place = (column + word.start(), row)
                weight = "bold" if kind == "title" else "normal"
                axes.text(*place, word[0].replace("$", r"\$"), family=FONT, fontsize=size, weight=weight, va="center")
            column += len(text)


FIGURE = Figure(
    name="entqa_case",
    slug="entqa_case",
    title="EntQA: a case with its entities",
    caption="Background, question and explanation with the entities that match and those that do not.",
    covers=covers,
    needs=("entqa_cases",),
    families=("entqa",),
    draw=draw,
)
