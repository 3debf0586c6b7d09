"""Resilience to rephrasing of one model."""

from __future__ import annotations

import functools

from ..statistics.inputs import Inputs
from ._dispersion import dispersion_drawing
from .base import Drawing, Figure, explanation

# By the rephraser of the paper's experiment, and by a second one where the study has it.
KINDS = ("resilience", "resilience_again")
CAPTION = (
    "Variance of each metric over rephrasings of the same answer (the answer itself included) to MEDIQA2019 "
    "questions, divided by the squared range of the metric over all answers and models; a box spans the questions. "
    "The CSV holds the other readings of the paper's scaling under their own names."
)


def covers(benchmark) -> bool:
    """The benchmark of the paper's resilience experiment."""
    return benchmark.name == "mediqa2019"


def resilience_figure(number: int, models: tuple[str, ...], title: str, *, sibling: bool = False) -> Figure:
    """The figure of all models (no `models`) or of some."""
    name = f"figure{number:02}"
    stem = f"fig{number:02}_resilience"
    about = models[0] if models else ""
    return Figure(
        name=f"{name}_{about}" if sibling else name,
        slug=f"{stem}_{about}" if about else stem,
        title=f"Figure {number}: resilience to rephrasing, {title}",
        caption=CAPTION,
        covers=covers,
        needs=KINDS,
        draw=functools.partial(draw, models),
        subject=about if sibling else "",
        subject_title=title if sibling else "",
    )


def draw(models: tuple[str, ...], inputs: Inputs) -> Drawing:
    """Boxes of the headline scaling."""
    absent = [model for model in models if model not in inputs.models]
    if absent:
        return explanation(f"{', '.join(absent)} is not asked this benchmark in the study.")
    return dispersion_drawing(inputs, KINDS, ["variance_by_squared_range"], models=models or None)
