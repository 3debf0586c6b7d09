"""Self-consistency of the metrics on one benchmark whose questions are asked several times."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..statistics.inputs import Inputs
from ._dispersion import dispersion_drawing
from .base import Drawing, Figure

if TYPE_CHECKING:
    from ..benchmarks.base import Benchmark
    from ..study import Study

# The benchmark of the paper's own figures.
MAIN, MAIN_TITLE = "careqa_open", "CareQA-Open"


def self_consistency_figure(
    number: int, slug: str, what: str, caption: str, shown: Sequence[str], *, subject: str = "", subject_title: str = ""
) -> Figure:
    """The figure of the paper's benchmark, or of a sibling's; `shown` are statistics of `_dispersion`."""
    name = f"figure{number:02}"
    return Figure(
        name=f"{name}_{subject}" if subject else name,
        slug=f"fig{number:02}_{slug}{f'_{subject}' * bool(subject)}",
        title=f"Figure {number}: {what}, {subject_title or MAIN_TITLE}",
        caption=caption,
        covers=functools.partial(_is, subject or MAIN),
        needs=("self_consistency",),
        draw=functools.partial(_draw, tuple(shown)),
        subject=subject,
        subject_title=subject_title,
    )


def subjects(study: Study) -> dict[str, str]:
    """The other benchmarks whose questions are asked several times."""
    sampled = dict.fromkeys(name for pack in study.packs for name in study.stage_benchmarks("samples", pack))
    return {name: study.benchmarks[name].title for name in sampled if name != MAIN}


def _is(name: str, benchmark: Benchmark) -> bool:
    return benchmark.name == name


def _draw(shown: Sequence[str], inputs: Inputs) -> Drawing:
    return dispersion_drawing(inputs, ["self_consistency"], shown, logarithmic=True)
