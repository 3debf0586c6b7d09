"""The records that flow through the study, and their JSON.

Every record carries the id of its item, unchanged from the data set to the table cell.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class MultipleChoiceItem:
    """A question with options, one of them right.

    `options` are the texts shown; `candidates` are the continuations of `prompt` whose
    log-likelihoods are compared (letters or whole strings), in the same order; `gold` indexes both.
    `context` is what stands before the question (an abstract, a transcription), "" if nothing does.
    """

    id: str
    benchmark: str
    question: str
    options: tuple[str, ...]
    candidates: tuple[str, ...]
    gold: int
    prompt: str
    context: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _require_text(self, "id", "benchmark", "question", "prompt")
        if len(self.options) < 2:
            raise ValueError(f"needs at least two options, has {len(self.options)}")
        if len(self.candidates) != len(self.options):
            raise ValueError(f"has {len(self.options)} options but {len(self.candidates)} candidates")
        if not 0 <= self.gold < len(self.options):
            raise ValueError(f"gold index {self.gold} is out of range for {len(self.options)} options")
        if not all(candidate.strip() for candidate in self.candidates):
            raise ValueError("has an empty candidate")


@dataclass(frozen=True, slots=True)
class OpenItem:
    """A question, dialogue or report with a free-text reference.

    `must_have` and `nice_to_have` are the statements that a good answer contains (OLAPH), else empty.
    """

    id: str
    benchmark: str
    question: str
    reference: str
    prompt: str
    must_have: tuple[str, ...] = ()
    nice_to_have: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _require_text(self, "id", "benchmark", "question", "reference", "prompt")


Item = MultipleChoiceItem | OpenItem


@dataclass(frozen=True, slots=True)
class Generation:
    """One answer of one model.

    `variant` is "greedy", "sample", "rephrasing" or "judgement"; `index` counts within the variant
    from 0. `finish_reason` is "stop" (end token or stop string), "length" (token limit) or "recorded".
    `log_probability` is the sum of the raw (untempered, unfiltered) log-probabilities of the generated
    tokens, nats, or None where the engine does not tell. `prompt_tokens_cut` counts what did not fit.
    Where the request keeps tokens there are, one a token, `token_ids`, `token_log_probabilities` (raw, nats) and
    `token_margins`, by how much the token's log-probability exceeds that of the most probable other one.
    """

    item_id: str
    benchmark: str
    model: str
    variant: str
    index: int
    text: str
    finish_reason: str
    prompt_tokens: int | None = None
    prompt_tokens_cut: int = 0
    generated_tokens: int | None = None
    log_probability: float | None = None
    key: str = ""
    token_ids: tuple[int, ...] = ()
    token_log_probabilities: tuple[float, ...] = ()
    token_margins: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class LogLikelihood:
    """Log-likelihood of one continuation.

    `variant` is "option" (candidate `index` given the prompt), "reference" (the reference alone, after
    the prefix token) or "reference_given_prompt". `token_log_probabilities` are in nats, one a token of
    the continuation; the prefix token is never scored. With `summed` it is one number, their sum: a file of
    somebody else's told no more. `is_greedy` tells whether every token was the most probable one, None where
    such a file does not.
    """

    item_id: str
    benchmark: str
    model: str
    variant: str
    index: int
    token_log_probabilities: tuple[float, ...]
    is_greedy: bool | None
    prompt_tokens: int = 0
    prompt_tokens_cut: int = 0
    key: str = ""
    summed: bool = False

    @property
    def total(self) -> float:
        """Sum over the tokens, nats; at most 0."""
        return math.fsum(self.token_log_probabilities)


@dataclass(frozen=True, slots=True)
class BranchLikelihoods:
    """Log-likelihoods of one text after growing prefixes of one completion (Relaxed Perplexity).

    `variant` names the text ("reference/0", "must_have/2"), `index` the completion. `log_probabilities[k]` is
    log P(text | prompt, first `positions[k]` tokens of the completion), nats, over its `target_tokens` tokens.
    """

    item_id: str
    benchmark: str
    model: str
    variant: str
    index: int
    positions: tuple[int, ...]
    log_probabilities: tuple[float, ...]
    target_tokens: int
    prompt_tokens: int = 0
    prompt_tokens_cut: int = 0
    key: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """One value of one metric for one answer.

    An aggregate is transform(sum(weight * value) / sum(weight)) with the metric's transform, so pooled
    figures such as perplexities are weighted means of per-item rates. `value` is None where the metric
    is undefined; `reason` then says why. `flags` are among "empty", "truncated", "unparsed", "invalid".
    """

    item_id: str
    benchmark: str
    model: str
    variant: str
    index: int
    metric: str
    value: float | None
    weight: float = 1.0
    flags: tuple[str, ...] = ()
    reason: str = ""

    def __post_init__(self) -> None:
        if self.value is not None and not math.isfinite(self.value):
            raise ValueError(f"{self.metric} of item {self.item_id} is {self.value}: undefined values are None")
        if self.value is None and not self.reason:
            raise ValueError(f"{self.metric} of item {self.item_id} is None without a reason")


def to_json(record: Any) -> dict[str, Any]:
    """The record as plain JSON types, with its type's name under "type"."""
    return {"type": type(record).__name__, **dataclasses.asdict(record)}


_TYPES = {
    cls.__name__: cls for cls in (MultipleChoiceItem, OpenItem, Generation, LogLikelihood, BranchLikelihoods, Score)
}


def from_json(data: Mapping[str, Any]) -> Any:
    """The record that `to_json` wrote. Raises ValueError on an unknown type, field or a broken record."""
    fields = dict(data)
    name = fields.pop("type", None)
    if name not in _TYPES:
        raise ValueError(f"unknown record type {name!r}; known: {', '.join(sorted(_TYPES))}")
    tuples = {k: tuple(v) for k, v in fields.items() if isinstance(v, list)}
    try:
        return _TYPES[name](**{**fields, **tuples})
    except TypeError as error:
        raise ValueError(f"not a {name}: {error}") from error


def unique_by_id(items: Iterable[Item]) -> list[Item]:
    """The items, once it is sure that no two share an id. Raises ValueError naming the id."""
    seen: set[str] = set()
    kept = []
    for item in items:
        if item.id in seen:
            raise ValueError(f"two items have the id {item.id!r}")
        seen.add(item.id)
        kept.append(item)
    return kept


def _require_text(record: Any, *names: str) -> None:
    for name in names:
        value = getattr(record, name)
        if not isinstance(value, str) or not value.strip():
            raise ValueError(f"{name} is empty" if isinstance(value, str) or value is None else f"{name} is not text")
