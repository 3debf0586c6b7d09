"""Relaxed Perplexity and its relatives: how probable the expected texts are, wherever in an answer.

Definition: arXiv 2502.06666, section 3.3 and appendix; `beyondqa.relaxed_perplexity` has the formulas. The values
of an item's statements are averaged within the item, those that are must-have and those that are nice-to-have
apart; an item without statements is scored by its reference. There is one value a seed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..items import BranchLikelihoods, Generation, Item, OpenItem, Score
from ..relaxed_perplexity import VALUES, Settings, question_mean, readings, relaxed, samples_a_seed, targets
from .base import Metric

FAMILY = "relaxed"
ENVIRONMENT = "analysis"
INPUT = "relaxed"

VARIANT = "relaxed"
KINDS = {"must_have": "must have", "nice_to_have": "nice to have", "reference": "reference"}
LABELS = {
    "relaxed_cross_entropy_sum": "Relaxed cross-entropy, sum",
    "relaxed_cross_entropy_mean": "Relaxed cross-entropy",
    "relaxed_cross_entropy_per_byte": "Relaxed cross-entropy per byte",
    "relaxed_perplexity": "Relaxed Perplexity",
    "relaxed_perplexity_stride_corrected": "Relaxed Perplexity, stride-corrected",
    "relaxed_anywhere": "Anywhere",
}
HEADLINE = ("relaxed_cross_entropy_mean", "relaxed_perplexity")


def metrics(settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    """Six values of three kinds of text for each variant; `settings` are those of the stage. None has a bound:
    the sum over prefixes may exceed 1."""
    return tuple(
        Metric(
            name=name(value, kind, reading),
            label=f"{LABELS[value]} ({words})"
            if reading.variant == "main"
            else f"{LABELS[value]} ({words}, {reading.variant})",
            higher_is_better=False,
            minimum=None,
            maximum=None,
            group="relaxed",
            headline=value in HEADLINE and reading.variant == "main",
        )
        for reading in readings(settings)
        for kind, words in KINDS.items()
        for value in VALUES
    )


def name(value: str, kind: str, reading: Settings) -> str:
    return f"{value}[{kind},{reading.signature}]"


def scores(
    items: Mapping[str, Item], records: Sequence[Generation | BranchLikelihoods], settings: Mapping[str, Any]
) -> Iterator[Score]:
    """Scores of every item, kind of text, variant and seed (the score's `index`). An item whose texts have no value
    gives None with the reason; one that misses some carries the flag "invalid"."""
    completions: dict[tuple[str, str, str, int], list[Generation]] = defaultdict(list)
    likelihoods: dict[tuple[str, str, str, int, str], list[BranchLikelihoods]] = defaultdict(list)
    for record in records:
        seed = record.index // samples_a_seed(settings)
        if isinstance(record, Generation):
            completions[record.model, record.item_id, record.variant, seed].append(record)
        else:
            sampling, _, text = record.variant.partition("/")
            likelihoods[record.model, record.item_id, sampling, seed, text].append(record)
    for reading in readings(settings):
        for (model, item_id, sampling, seed), own in completions.items():
            if sampling == reading.sampling:
                found = {
                    text: likelihoods[model, item_id, sampling, seed, text] for text in targets(_open(items[item_id]))
                }
                yield from _of_item(_open(items[item_id]), model, seed, reading, own, found)


def _of_item(
    item: OpenItem,
    model: str,
    seed: int,
    reading: Settings,
    completions: Sequence[Generation],
    likelihoods: Mapping[str, Sequence[BranchLikelihoods]],
) -> Iterator[Score]:
    values = {
        text: relaxed(completions, likelihoods[text], wording, reading) for text, wording in targets(item).items()
    }
    for kind in KINDS:
        statements = [value for text, value in values.items() if text.partition("/")[0] == kind]
        if not statements:
            continue
        for value, (mean, missing) in question_mean(statements).items():
            reasons = [statement.reasons[value] for statement in statements if value in statement.reasons]
            yield Score(
                item_id=item.id,
                benchmark=item.benchmark,
                model=model,
                variant=VARIANT,
                index=seed,
                metric=name(value, kind, reading),
                value=mean,
                flags=("invalid",) if missing else (),
                reason=reasons[0] if mean is None else "",
            )


def _open(item: Item) -> OpenItem:
    if not isinstance(item, OpenItem):
        raise TypeError(f"{item.id} has no text to look for")
    return item
