"""Word perplexity, byte perplexity and bits per byte of the reference texts.

As the authors' harness tasks define them: the reference alone is scored (log-likelihood variant "reference",
given the prefix token and nothing else), and a benchmark's value is pooled: exp(-sum LL / sum words),
exp(-sum LL / sum bytes) and -sum LL / sum bytes / ln 2. Words are the pieces that re.split(r"\\s+", text) gives,
so a blank at either end adds one; bytes are those of UTF-8. An item's value is its own rate, in nats a word,
nats a byte and bits a byte, with its words or bytes as the weight. All three are monotone in one another on one
benchmark. The conditional variants score the reference after its prompt ("reference_given_prompt").
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..errors import StudyError
from ..items import Item, LogLikelihood, OpenItem, Score
from .base import Metric

FAMILY = "likelihood"
ENVIRONMENT = "analysis"
INPUT = "likelihoods"

VARIANTS = {"reference": "", "reference_given_prompt": "[conditional]"}


def metrics(settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    """Three metrics, and with `conditional: true` the same three given the prompt."""
    return tuple(
        Metric(
            name=name + suffix,
            label=label + (" given the prompt" if suffix else ""),
            higher_is_better=False,
            minimum=0.0,
            maximum=None,
            transform=transform,
            group="perplexity" + suffix,
            headline=not suffix,
        )
        for suffix in _suffixes(settings)
        for name, (label, transform, _, _) in RATES.items()
    )


def scores(
    items: Mapping[str, Item], likelihoods: Sequence[LogLikelihood], settings: Mapping[str, Any]
) -> Iterator[Score]:
    """An item's rates with their weights. Raises StudyError where a text has two log-likelihoods of one kind."""
    seen: set[tuple[str, str, str]] = set()
    for likelihood in likelihoods:
        suffix = VARIANTS.get(likelihood.variant)
        if suffix is None or suffix not in _suffixes(settings):
            continue
        identity = (likelihood.model, likelihood.variant, likelihood.item_id)
        if identity in seen:
            raise StudyError("two log-likelihoods of one reference", record=likelihood.item_id)
        seen.add(identity)
        yield from _item_scores(items[likelihood.item_id], likelihood, suffix)


def words(text: str) -> int:
    """Pieces between runs of whitespace, those at the ends included: at least 1."""
    return len(re.split(r"\s+", text))


def utf8_bytes(text: str) -> int:
    """Bytes of the text in UTF-8; a lone surrogate counts its three."""
    return len(text.encode("utf-8", "surrogatepass"))


def _item_scores(item: Item, likelihood: LogLikelihood, suffix: str) -> Iterator[Score]:
    if not isinstance(item, OpenItem):
        raise StudyError("has a reference log-likelihood but no reference", record=item.id)
    flags = ("prompt_cut",) if likelihood.prompt_tokens_cut else ()
    for name, (_, _, size, unit) in RATES.items():
        weight = size(item.reference)
        value = -likelihood.total / weight / unit
        yield Score(
            item.id, item.benchmark, likelihood.model, likelihood.variant, 0, name + suffix, value, weight, flags
        )


RATES: dict[str, tuple[str, str, Callable[[str], int], float]] = {
    "word_perplexity": ("Word perplexity", "exp", words, 1.0),
    "byte_perplexity": ("Byte perplexity", "exp", utf8_bytes, 1.0),
    "bits_per_byte": ("Bits per byte", "identity", utf8_bytes, math.log(2)),
}


def _suffixes(settings: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(VARIANTS.values()) if settings.get("conditional") else ("",)
