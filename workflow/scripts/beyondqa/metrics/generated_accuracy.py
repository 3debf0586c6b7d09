"""Accuracy of multiple choice by what the model wrote: right where its answer states the gold option.

Stands beside the accuracy by log-likelihood. An answer that states no option is wrong and is counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..extraction import LETTERS, chosen_option
from ..items import Generation, Item, MultipleChoiceItem, Score
from .base import Metric

FAMILY = "choices"
ENVIRONMENT = "analysis"
INPUT = "choices"

NAME = "accuracy[generated]"


def metrics(settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    return (
        Metric(
            name=NAME,
            label="Accuracy (generated)",
            higher_is_better=True,
            minimum=0.0,
            maximum=1.0,
            floor=0.0,
            group="accuracy",
            headline=False,
        ),
    )


def scores(
    items: Mapping[str, Item], generations: Sequence[Generation], settings: Mapping[str, Any]
) -> Iterator[Score]:
    """1 or 0 an answer to a multiple-choice item; flags "unparsed" with the reason beside it, "empty", and "cut"
    where the answer reached the token limit. Answers to other items are passed over."""
    for answer in generations:
        item = items[answer.item_id]
        if not isinstance(item, MultipleChoiceItem) or answer.variant not in ("greedy", "sample"):
            continue
        choice = chosen_option(answer.text, item.options)
        flags = {
            "empty": not answer.text.strip(),
            "unparsed": choice.letter is None,
            "cut": answer.finish_reason == "length",
        }
        yield Score(
            item.id,
            item.benchmark,
            answer.model,
            answer.variant,
            answer.index,
            NAME,
            float(choice.letter == LETTERS[item.gold]),
            flags=tuple(name for name, holds in flags.items() if holds),
            reason=choice.reason,
        )
