"""Accuracy of multiple choice by log-likelihood: right where the gold candidate's is the highest.

`accuracy` compares the candidates' total log-likelihoods, as the authors' harness tasks do. The variants
divide each by its candidate's length first, in characters, in UTF-8 bytes or in tokens, the space that joins
a candidate to the prompt left out of the first two. Recorded log-likelihoods that are sums alone do not tell
how many tokens there are, so their accuracy by tokens is undefined.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..errors import StudyError
from ..items import Item, LogLikelihood, MultipleChoiceItem, Score
from .base import Metric

FAMILY = "likelihood"
ENVIRONMENT = "analysis"
INPUT = "likelihoods"

NO_TOKENS = "the log-likelihoods were recorded as sums, without their tokens"


def metrics(settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    return tuple(
        Metric(
            name=name,
            label=label,
            higher_is_better=True,
            minimum=0.0,
            maximum=1.0,
            group="accuracy",
            headline=name == "accuracy",
        )
        for name, (label, _) in NORMS.items()
    )


def scores(
    items: Mapping[str, Item], likelihoods: Sequence[LogLikelihood], settings: Mapping[str, Any]
) -> Iterator[Score]:
    """1 or 0 an item and norm, variant "option". Ties go to the first candidate and are flagged "tie"; "prompt_cut"
    tells that the prompt did not fit. Raises StudyError where a candidate's log-likelihood is missing or double."""
    options: dict[tuple[str, str], dict[int, LogLikelihood]] = defaultdict(dict)
    for likelihood in likelihoods:
        if likelihood.variant != "option":
            continue
        if likelihood.index in options[likelihood.model, likelihood.item_id]:
            raise StudyError(f"two log-likelihoods of candidate {likelihood.index}", record=likelihood.item_id)
        options[likelihood.model, likelihood.item_id][likelihood.index] = likelihood
    for (model, item_id), by_index in options.items():
        yield from _item_scores(items[item_id], model, by_index)


def _item_scores(item: Item, model: str, by_index: Mapping[int, LogLikelihood]) -> Iterator[Score]:
    if not isinstance(item, MultipleChoiceItem) or sorted(by_index) != list(range(len(item.candidates))):
        wanted = len(item.candidates) if isinstance(item, MultipleChoiceItem) else 0
        raise StudyError(
            f"has log-likelihoods of candidates {sorted(by_index)}, but {wanted} candidates",
            record=item.id,
            remedy="Make the likelihoods again from the same data set file",
        )
    answers = [by_index[index] for index in range(len(item.candidates))]
    cut = ("prompt_cut",) if any(answer.prompt_tokens_cut for answer in answers) else ()
    for name, (_, length) in NORMS.items():
        if length is _tokens and any(answer.summed for answer in answers):
            yield Score(item.id, item.benchmark, model, "option", 0, name, None, flags=cut, reason=NO_TOKENS)
            continue
        rates = [answer.total / length(text, answer) for text, answer in zip(item.candidates, answers, strict=True)]
        best = max(rates)
        tie = ("tie",) if rates.count(best) > 1 else ()
        right = rates.index(best) == item.gold
        yield Score(item.id, item.benchmark, model, "option", 0, name, float(right), flags=tie + cut)


def _characters(candidate: str) -> int:
    return len(candidate.removeprefix(" "))


def _utf8_bytes(candidate: str) -> int:
    return len(candidate.removeprefix(" ").encode("utf-8", "surrogatepass"))


def _tokens(candidate: str, likelihood: LogLikelihood) -> int:
    return len(likelihood.token_log_probabilities)


NORMS: dict[str, tuple[str, Callable[[str, LogLikelihood], float]]] = {
    "accuracy": ("Accuracy", lambda candidate, likelihood: 1),
    "accuracy[norm=chars]": ("Accuracy (per character)", lambda candidate, likelihood: _characters(candidate)),
    "accuracy[norm=bytes]": ("Accuracy (per byte)", lambda candidate, likelihood: _utf8_bytes(candidate)),
    "accuracy[norm=tokens]": ("Accuracy (per token)", _tokens),
}
