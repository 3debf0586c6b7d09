"""What a study asks and measures, from its config alone."""

from __future__ import annotations

from typing import Any

from . import metrics
from .benchmarks import TASKS
from .statistics.inputs import stand_in_label
from .statistics.labels import metric_rank
from .study import Study


def overview(study: Study) -> list[dict[str, Any]]:
    """Rows (task, benchmark, title, metrics), in the order of the tasks and the config.

    `metrics` are the labels of the headline metrics that are scored on the benchmark for any model.
    """
    return [
        {
            "task": TASKS[benchmark.task],
            "benchmark": benchmark.name,
            "title": benchmark.title,
            "metrics": _labels(study, benchmark.name),
        }
        for task in TASKS
        for benchmark in study.benchmarks.values()
        if benchmark.task == task
    ]


def _labels(study: Study, benchmark: str) -> list[str]:
    found = [
        metric
        for family in study.families
        if _is_scored(study, family, benchmark)
        for name, settings in study.metric_modules(family).items()
        if _fits(name, study.benchmarks[benchmark].kind)
        for metric in metrics.module(name).metrics(settings)
        if metric.headline
    ]
    ordered = sorted(found, key=lambda metric: metric_rank(metric.name))
    return list(dict.fromkeys(stand_in_label(metric.label, metric.stand_in) for metric in ordered))


def _is_scored(study: Study, family: str, benchmark: str) -> bool:
    stage = study.main_stage(family)
    return any(
        benchmark in study.scored_benchmarks(family, stage, model, pack)
        for pack in study.packs
        for model in study.models_of(pack)
    )


def _fits(module: str, kind: str) -> bool:
    """Of the metrics of log-likelihoods, accuracy is about options and the others about references."""
    if metrics.module(module).INPUT != "likelihoods":
        return True
    return (module == "accuracy") == (kind == "multiple_choice")
