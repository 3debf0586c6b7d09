"""Paper 1, figure 11: BERTScore across benchmarks, and the same for every other metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import metrics
from ._benchmarks import benchmarks_figure, metric_slug
from .base import Figure

if TYPE_CHECKING:
    from ..study import Study

FIGURE = benchmarks_figure(11, "bertscore_f1", "BERTScore", families=("bertscore",))


def subjects(study: Study) -> dict[str, str]:
    """The other headline metrics of a study with two benchmarks or more; Prometheus has a figure of its own."""
    if sum(map(FIGURE.covers, study.benchmarks.values())) < 2:
        return {}
    described = {k: v for family in study.families for k, v in metrics.describe(study.metric_modules(family)).items()}
    others = [m for m in described.values() if m.headline and not m.name.startswith(("bertscore", "judge"))]
    return {metric_slug(metric.name): metric.label for metric in others if not metric.name.startswith("entqa")}


def sibling(subject: str, title: str) -> Figure:
    """The figure of one metric."""
    return benchmarks_figure(11, subject, title, sibling=True)
