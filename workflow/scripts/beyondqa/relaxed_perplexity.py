"""Relaxed Perplexity (arXiv 2502.06666, section 3.3 and appendix): how probable a text is, wherever in an answer.

With completions c of a prompt, P(A_i | B_i) at position i is the un-normalised sum, over the prefixes of i tokens
of the best completions, of P(text | prompt, prefix); at i = 0 the prefix is empty and there is one term. The sum
may exceed 1 and is kept as it is. All sums are taken in log space.

Two ways to sample: "fixed" suppresses end tokens, so that every completion has `tokens` tokens; "eos" lets
completions end, and a prefix that would hold an end token does not exist.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .engines.base import BranchRequest, GenerationRequest, Prompt
from .errors import StudyError
from .items import BranchLikelihoods, Generation, OpenItem

VARIANTS = {
    "main": "fixed",
    "eos": "eos",
    "per-position": "fixed",
    "weighted": "fixed",
    "with-duplicates": "fixed",
}
VALUES = (
    "relaxed_cross_entropy_sum",
    "relaxed_cross_entropy_mean",
    "relaxed_cross_entropy_per_byte",
    "relaxed_perplexity",
    "relaxed_perplexity_stride_corrected",
    "relaxed_anywhere",
)


@dataclass(frozen=True)
class Settings:
    """`best` of `samples` completions of `tokens` tokens, read at every `stride`-th position.

    Variants: "main": the best by raw log-probability of the whole completion, equal prefixes count once. "eos": the
    same with end tokens allowed. "per-position": at each position the most probable prefixes of that length.
    "weighted": terms are weighted by P(prefix | prompt). "with-duplicates": equal prefixes count as often as they come.
    """

    tokens: int = 128
    stride: int = 16
    best: int = 5
    samples: int = 10
    variant: str = "main"
    top_p: float = 0.9
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if self.variant not in VARIANTS:
            raise StudyError(
                f"Relaxed Perplexity has no variant {self.variant!r}", remedy=f"It may be one of: {', '.join(VARIANTS)}"
            )
        if not (1 <= self.best <= self.samples and 1 <= self.stride <= self.tokens):
            raise StudyError(f"{self} wants more than there is: best of samples, stride of tokens")

    @property
    def sampling(self) -> str:
        """How the completions are sampled: "fixed" or "eos"."""
        return VARIANTS[self.variant]

    @property
    def positions(self) -> tuple[int, ...]:
        """0, stride, 2 strides, ... up to `tokens`."""
        return tuple(range(0, self.tokens + 1, self.stride))

    @property
    def signature(self) -> str:
        """What two values must share to stand in one table."""
        return (
            f"n{self.tokens},stride{self.stride},l{self.best},s{self.samples},{self.variant},"
            f"p{self.top_p:g},T{self.temperature:g}"
        )


def readings(settings: Mapping[str, Any]) -> list[Settings]:
    """One Settings a variant of the config's `inference.relaxed`; of `inference.relaxed_grid`, which has none but the
    main one, a Settings a number of best and of samples."""
    shared = {key: settings[key] for key in ("tokens", "stride", "top_p", "temperature")}
    choices = itertools.product(settings.get("variants", ["main"]), _all(settings["best"]), _all(settings["samples"]))
    return [Settings(variant=variant, best=best, samples=samples, **shared) for variant, best, samples in choices]


def samples_a_seed(settings: Mapping[str, Any]) -> int:
    """How many completions are sampled for each seed. A completion's index is seed * that + its number."""
    return max(_all(settings["samples"]))


def _all(numbers: int | Sequence[int]) -> Sequence[int]:
    return [numbers] if isinstance(numbers, int) else numbers


def one_signature(signatures: Iterable[str]) -> str:
    """The only signature there is. Raises StudyError where they differ: values of different settings are not
    comparable."""
    found = sorted(set(signatures))
    if len(found) != 1:
        raise StudyError(
            f"Relaxed Perplexities of different settings would share a table: {'; '.join(found)}",
            remedy="Choose one, and score all models with it",
        )
    return found[0]


def signature_of(metric: str) -> str:
    """The signature in a metric's name, value[text,signature]."""
    return metric.partition(",")[2].removesuffix("]")


# Requests


def completion_requests(
    item: OpenItem, prompt: Prompt, settings: Settings, seeds: Sequence[int], *, first: int = 0, side: str = "left"
) -> list[GenerationRequest]:
    """One request a seed, for a completion with its tokens; counted from `first`."""
    return [
        GenerationRequest(
            item_id=item.id,
            benchmark=item.benchmark,
            variant=settings.sampling,
            index=index,
            prompt=prompt,
            max_new_tokens=settings.tokens,
            temperature=settings.temperature,
            top_p=settings.top_p,
            seed=seed,
            truncation_side=side,
            suppress_end=settings.sampling == "fixed",
            keep_tokens=True,
        )
        for index, seed in enumerate(seeds, start=first)
    ]


def targets(item: OpenItem) -> dict[str, str]:
    """The texts looked for: an item's statements one by one, or its reference where it has none."""
    statements = {
        f"{kind}/{number}": text
        for kind, texts in (("must_have", item.must_have), ("nice_to_have", item.nice_to_have))
        for number, text in enumerate(texts)
    }
    return statements or {"reference/0": item.reference}


def branch_requests(
    item: OpenItem,
    prompt: Prompt,
    completions: Sequence[Generation],
    settings: Iterable[Settings],
    *,
    side: str = "left",
) -> list[BranchRequest]:
    """What must be asked of one seed's completions of one sampling, for all `settings`: each pair of a completion
    and a position once.
    """
    wanted: dict[int, set[int]] = {}
    for setting in settings:
        for position, indices in prefixes(completions, setting).items():
            for index in indices:
                wanted.setdefault(index, set()).add(position)
    by_index = {completion.index: completion for completion in completions}
    return [
        BranchRequest(
            item_id=item.id,
            benchmark=item.benchmark,
            variant=f"{by_index[index].variant}/{name}",
            index=index,
            prompt=prompt,
            completion=tuple(_tokens(by_index[index]))[: max(positions)],
            positions=tuple(sorted(positions)),
            continuation=f" {text}" if isinstance(prompt, str) else text,
            truncation_side=side,
        )
        for index, positions in sorted(wanted.items())
        for name, text in targets(item).items()
    ]


# Which prefixes count


def prefixes(completions: Sequence[Generation], settings: Settings) -> dict[int, list[int]]:
    """By position, the indices of the completions whose prefixes count there, the best first.

    Of the completions the first `samples` are used. A prefix that several share is represented by the best of them.
    Of equally probable completions the one with the lower index is the better. Raises StudyError where there are
    too few completions or where one that must not end has not `tokens` tokens.
    """
    used = sorted(completions, key=lambda c: c.index)[: settings.samples]
    if len(used) < settings.samples:
        raise StudyError(f"there are {len(used)} of {settings.samples} completions", record=completions[0].item_id)
    if settings.sampling == "fixed" and any(len(_tokens(c)) != settings.tokens for c in used):
        raise StudyError(f"a completion has not {settings.tokens} tokens", record=used[0].item_id)
    best = _ranked(used)[: settings.best]
    chosen: dict[int, list[int]] = {}
    for position in settings.positions:
        if settings.variant == "per-position":
            kept = _distinct(_ranked(used, position), position)[: settings.best]
        else:
            kept = [c for c in best if len(_tokens(c)) >= position]
            # The empty prefix is one, whatever the variant.
            if settings.variant != "with-duplicates" or position == 0:
                kept = _distinct(kept, position)
        chosen[position] = [c.index for c in kept]
    return chosen


def _tokens(completion: Generation) -> tuple[int, ...]:
    """Tokens of the completion without its end token."""
    ended = completion.finish_reason == "stop"
    return completion.token_ids[:-1] if ended else completion.token_ids


def _log_probability(completion: Generation, position: int | None = None) -> float:
    """Raw log-probability of the first `position` tokens, or of all with the end token."""
    return math.fsum(completion.token_log_probabilities[:position])


def _ranked(completions: Iterable[Generation], position: int | None = None) -> list[Generation]:
    return sorted(completions, key=lambda c: (-_log_probability(c, position), c.index))


def _distinct(completions: Iterable[Generation], position: int) -> list[Generation]:
    """The first completion with each prefix."""
    first: dict[tuple[int, ...], Generation] = {}
    for completion in completions:
        first.setdefault(_tokens(completion)[:position], completion)
    return list(first.values())


# Values


@dataclass(frozen=True)
class Relaxed:
    """Values of one text; where one is None, `reasons` says why. `kept[k]` prefixes count at `positions[k]`."""

    values: Mapping[str, float | None]
    positions: tuple[int, ...]
    kept: tuple[int, ...]
    reasons: Mapping[str, str] = field(default_factory=dict)


def relaxed(
    completions: Sequence[Generation], likelihoods: Iterable[BranchLikelihoods], text: str, settings: Settings
) -> Relaxed:
    """Relaxed Perplexity of one text and its relatives, from one seed's completions.

    With T positions, n = `tokens`, m the text's tokens and C = -sum_i log P(A_i | B_i), nats:
    relaxed_cross_entropy_sum = C; _mean = C / T; _per_byte = C / T / UTF-8 bytes of the text;
    relaxed_perplexity = exp(C / (n + m)), the paper's divisor taken literally;
    relaxed_perplexity_stride_corrected = exp((n + 1) C / (T (n + m))), as if every position had been read;
    relaxed_anywhere = -log of the mean over positions of the mean over prefixes of their terms.

    Raises StudyError where a likelihood is missing.
    """
    answers = list(likelihoods)
    found = {
        (answer.index, position): value
        for answer in answers
        for position, value in zip(answer.positions, answer.log_probabilities, strict=True)
    }
    by_index = {completion.index: completion for completion in completions}
    chosen = prefixes(completions, settings)
    terms: list[list[float]] = []
    for position, indices in chosen.items():
        missing = [index for index in indices if (index, position) not in found]
        if missing:
            raise StudyError(
                f"completion {missing[0]} has no log-likelihood at position {position}", record=completions[0].item_id
            )
        weight = settings.variant == "weighted"
        terms.append([found[i, position] + weight * _log_probability(by_index[i], position) for i in indices])
    kept = tuple(map(len, terms))
    if not all(kept):
        empty = [position for position, count in zip(chosen, kept, strict=True) if not count]
        reason = f"no completion reaches position {empty[0]}"
        return Relaxed(dict.fromkeys(VALUES), settings.positions, kept, dict.fromkeys(VALUES, reason))
    return _values(terms, settings, answers[0].target_tokens, len(text.encode("utf-8")))


def _values(terms: list[list[float]], settings: Settings, target_tokens: int, target_bytes: int) -> Relaxed:
    from scipy.special import logsumexp

    count = len(terms)
    cross_entropy = -math.fsum(float(logsumexp(position)) for position in terms)
    divisor = settings.tokens + target_tokens
    means = [float(logsumexp(position)) - math.log(len(position)) for position in terms]
    exponents = {
        "relaxed_perplexity": cross_entropy / divisor,
        "relaxed_perplexity_stride_corrected": (settings.tokens + 1) * cross_entropy / (count * divisor),
    }
    values: dict[str, float | None] = {
        "relaxed_cross_entropy_sum": cross_entropy,
        "relaxed_cross_entropy_mean": cross_entropy / count,
        "relaxed_cross_entropy_per_byte": cross_entropy / count / target_bytes,
        "relaxed_anywhere": math.log(count) - float(logsumexp(means)),
    }
    reasons = {}
    for name, exponent in exponents.items():
        try:
            values[name] = math.exp(exponent)
        except OverflowError:
            values[name], reasons[name] = None, f"exp({exponent:.1f}) is beyond floating point"
    return Relaxed(values, settings.positions, tuple(map(len, terms)), reasons)


def question_mean(statements: Sequence[Relaxed]) -> dict[str, tuple[float | None, int]]:
    """By value, the mean over a question's statements that have one, and how many have none."""
    means: dict[str, Any] = {}
    for name in VALUES:
        defined = [s.values[name] for s in statements if s.values[name] is not None]
        means[name] = (math.fsum(defined) / len(defined) if defined else None, len(statements) - len(defined))
    return means
