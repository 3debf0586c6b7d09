"""Paper 1, figure 13: resilience of the metrics to rephrasing over all models, and the same for each model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._resilience import resilience_figure
from .base import Figure

if TYPE_CHECKING:
    from ..study import Study

FIGURE = resilience_figure(13, (), "all models")
# The models of figures 14 and 15.
SHOWN = ("Phi-3-mini-4k-instruct", "Yi-1.5-9B-Chat")


def subjects(study: Study) -> dict[str, str]:
    """The models whose answers are rephrased and that have no figure of their own in the paper."""
    asked = [m for p in study.packs if study.stage_benchmarks("rephrased", p) for m in study.models_of(p)]
    return {model: model for model in dict.fromkeys(asked) if model not in SHOWN}


def sibling(subject: str, title: str) -> Figure:
    """The figure of one model."""
    return resilience_figure(13, (subject,), title, sibling=True)
