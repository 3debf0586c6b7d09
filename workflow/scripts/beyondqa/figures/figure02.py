"""Paper 1, figure 2: self-consistency of the metrics on CareQA-Open, and the same for other benchmarks."""

from __future__ import annotations

import functools

from ._self_consistency import self_consistency_figure, subjects
from .base import Figure

__all__ = ["FIGURE", "sibling", "subjects"]

_figure = functools.partial(
    self_consistency_figure,
    2,
    "self_consistency",
    "self-consistency",
    (
        "Population variance of each metric over repeated samples of the same question, averaged over models; "
        "a box spans the questions. Left: as the paper has it, in each metric's own squared unit, on a "
        "logarithmic axis. Right: divided by the squared range of the metric over all answers, which makes "
        "metrics comparable. Perplexities score the reference alone, so their variance is zero by construction "
        "and they are not drawn."
    ),
    ("variance", "variance_by_squared_range"),
)
FIGURE = _figure()


def sibling(subject: str, title: str) -> Figure:
    """The figure of one benchmark."""
    return _figure(subject=subject, subject_title=title)
