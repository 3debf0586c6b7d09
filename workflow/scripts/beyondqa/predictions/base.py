"""What a file of predictions holds, whatever its format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


def as_list(names: str | Sequence[str]) -> list[str]:
    """Names that the config gives as one or as a list."""
    return [names] if isinstance(names, str) else list(names)


def identifier(values: Iterable[Any]) -> str:
    """What one or several values, taken together, are compared by: texts, blanks at both ends aside."""
    return "\n".join(str(value).strip() for value in values)


@dataclass(frozen=True, slots=True)
class Answer:
    """One text that a model wrote.

    `identifier` is what an item is found by. `index` orders several answers to one document and tells them apart.
    `text` is None where the file says that there is none. `options` are those that a letter in the text stands
    for, () where the file does not tell.
    """

    identifier: str
    index: tuple[int, ...]
    text: str | None
    finish_reason: str = "recorded"
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OptionLikelihoods:
    """Log-likelihoods of the options of one question, nats.

    `continuations` are the texts that were scored; `log_probabilities` hold, for each, its tokens' values, or with
    `summed` one number, their sum. `greedy` tells whether every token was the most probable one, None where
    the file does not. `right` are the positions of the right options as the file has them.
    """

    identifier: str
    continuations: tuple[str, ...]
    log_probabilities: tuple[tuple[float, ...], ...]
    summed: bool
    greedy: tuple[bool | None, ...]
    right: frozenset[int]


Prediction = Answer | OptionLikelihoods
