"""The metrics, one module each.

A module has FAMILY (its metrics are scored in one job a model and pack), ENVIRONMENT (stem of a file in
envs/), INPUT and `metrics(settings)`, which describes its variants. With INPUT "answers" it has
`values(pairs, settings, threads=1)` for (prediction, reference) pairs; with INPUT "likelihoods",
`scores(items, likelihoods, settings)`. It may have `faults(settings)`, sentences on settings that cannot be, and
FILES (with DATA and LICENCE), what `fetch` brings for it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from ..errors import StudyError
from ..registry import load_module, module_names, suggestion
from .base import Metric


def names() -> list[str]:
    """Names of all metric modules, sorted."""
    return module_names(sys.modules[__name__])


def module(name: str) -> ModuleType:
    """The metric module of that name. Raises StudyError that lists the names there are."""
    return load_module(sys.modules[__name__], name, "metric")


def describe(config_metrics: Mapping[str, Mapping[str, Any] | None]) -> dict[str, Metric]:
    """Every metric of a config's `metrics:`, by its name with its variant."""
    return {metric.name: metric for name, settings in config_metrics.items() for metric in _metrics(name, settings)}


def score(name: str, predictions: Sequence[str], references: Sequence[str], **settings: Any) -> list[float | None]:
    """Values of one metric, in the order of the predictions; None where it is undefined.

    `name` holds the variant, as in "rougeL[nostem]" or "bleu[evaluate,13a,nosmooth]"; `settings` are those of
    the metric's module in the config, as in encoders=[{...}]. An answer without a visible character gets the
    metric's floor. Raises StudyError for an unknown name and for lists of different lengths.
    """
    from ..scoring import score_pairs

    if len(predictions) != len(references):
        raise StudyError(
            f"{len(predictions)} predictions but {len(references)} references", remedy="Give one reference a prediction"
        )
    known = {
        metric.name: owner
        for owner in names()
        if module(owner).INPUT == "answers" and hasattr(module(owner), "values")
        for metric in _metrics(owner, settings)
    }
    if name not in known:
        raise StudyError(f"no metric of answers is called {name!r}", remedy=suggestion(name, sorted(known)))
    columns, _ = score_pairs(list(zip(predictions, references, strict=True)), {known[name]: settings})
    return list(columns[name].values)


def _metrics(name: str, settings: Mapping[str, Any] | None) -> tuple[Metric, ...]:
    return module(name).metrics(settings or {})
