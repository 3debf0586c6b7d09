"""Length of the answer in whitespace-separated words: the baseline that every other metric must beat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .base import Metric, Values

FAMILY = "lexical"
ENVIRONMENT = "analysis"
INPUT = "answers"


def metrics(settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    return (
        Metric(
            name="length[words]",
            label="Length (words)",
            higher_is_better=True,
            minimum=0.0,
            maximum=None,
            floor=0.0,
            group="length",
        ),
    )


def values(pairs: Sequence[tuple[str, str]], settings: Mapping[str, Any], *, threads: int = 1) -> Values:
    """Number of words of each prediction, split at whitespace; the references are not looked at."""
    return Values({"length[words]": [float(len(prediction.split())) for prediction, _ in pairs]})
