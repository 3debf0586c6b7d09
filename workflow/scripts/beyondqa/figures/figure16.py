"""Paper 1, figure 16: coefficient of variation over repeated samples, and the same for other benchmarks."""

from __future__ import annotations

import functools

from ._self_consistency import self_consistency_figure, subjects
from .base import Figure

__all__ = ["FIGURE", "sibling", "subjects"]

_figure = functools.partial(
    self_consistency_figure,
    16,
    "coefficient_of_variation",
    "coefficient of variation, self-consistency",
    (
        "Standard deviation (of the population) of each metric over repeated samples of the same question, divided "
        "by their mean, averaged over models; a box spans the questions. It depends on where a metric's zero lies: "
        "compare metrics that start at zero, not BERTScore or a 1-5 scale with them. Metrics that take values of "
        "either sign (BLEURT) have none."
    ),
    ("coefficient_of_variation",),
)
FIGURE = _figure()


def sibling(subject: str, title: str) -> Figure:
    """The figure of one benchmark."""
    return _figure(subject=subject, subject_title=title)
