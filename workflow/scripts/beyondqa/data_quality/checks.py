"""Faults of single items, and the balance of the gold answers."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..items import Item, MultipleChoiceItem, OpenItem
from .duplicates import words

CHECKS = ("duplicate_options", "empty_field", "other_language", "length_outlier")
# On CasiMedicos, at 25 words, 90 % of Spanish passages reach it; no English item of CareQA or HEAD-QA is mistaken.
LANGUAGE_CONFIDENCE = 0.6
# Latin names of organisms and drugs would pass for Latin.
NOT_ASKED = "la"
# Tukey's fences, on the logarithm of the number of words.
FENCE = 1.5


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of one item."""

    check: str
    benchmark: str
    item_id: str
    detail: str


def find_faults(items: Sequence[Item], languages: Mapping[str, str]) -> list[Finding]:
    """Faults of all items, by check; `languages` maps benchmark to the ISO 639-1 code it should be in.

    - duplicate_options: two options are equal but for case, spacing and punctuation;
    - empty_field: an option, a statement, a metadata value is blank or null, or the context is blank where
      other items of the benchmark have one;
    - other_language: py3langid holds another language (Latin left out) to be 60 % probable, from all the
      item's text;
    - length_outlier: the number of words of a field lies beyond Tukey's fences (quartiles -+ 1.5 times
      their distance, on log(1 + words)) within the benchmark.
    """
    with_context = {i.benchmark for i in items if isinstance(i, MultipleChoiceItem) and i.context.strip()}
    findings = [finding for item in items for finding in _duplicate_options(item)]
    findings += [finding for item in items for finding in _empty_fields(item, item.benchmark in with_context)]
    findings += [f for item in items for f in _other_language(item, languages[item.benchmark], language)]
    return findings + _length_outliers(items)


@functools.cache
def _identifier():
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(set(identifier.labels) - {NOT_ASKED})
    return identifier


def language(text: str) -> tuple[str, float]:
    """(ISO 639-1 code or, where there is none, 639-3; probability in 0-1) of the likeliest language."""
    return _identifier().classify(text)


def gold_balance(items: Iterable[Item]) -> list[dict[str, Any]]:
    """Rows (benchmark, position from 0, count, share, p, reason): how often each option is the right one.

    p is of a chi-square test against equal counts; None where the number of options varies, or where fewer
    than five are expected at a position.
    """
    from scipy.stats import chisquare

    golds: dict[str, list[MultipleChoiceItem]] = defaultdict(list)
    for item in items:
        if isinstance(item, MultipleChoiceItem):
            golds[item.benchmark].append(item)
    rows = []
    for benchmark, group in golds.items():
        sizes = {len(item.options) for item in group}
        tally = Counter(item.gold for item in group)
        counts = [tally[position] for position in range(max(sizes))]
        p, reason = None, ""
        if len(sizes) > 1:
            reason = f"items have {min(sizes)} to {max(sizes)} options"
        elif len(group) / len(counts) < 5:
            reason = "fewer than five expected at a position"
        else:
            p = float(chisquare(counts).pvalue)
        rows += [
            {
                "benchmark": benchmark,
                "position": position,
                "count": count,
                "share": count / len(group),
                "p": p,
                "reason": reason,
            }
            for position, count in enumerate(counts)
        ]
    return rows


def _duplicate_options(item: Item) -> Iterable[Finding]:
    if not isinstance(item, MultipleChoiceItem):
        return
    positions: dict[str, list[int]] = defaultdict(list)
    for position, option in enumerate(item.options):
        positions[words(option)].append(position)
    for same in positions.values():
        if len(same) > 1:
            gold = ", the right one among them" if item.gold in same else ""
            detail = f"options {', '.join(str(p + 1) for p in same)} are equal{gold}"
            yield Finding("duplicate_options", item.benchmark, item.id, detail)


def _empty_fields(item: Item, has_context: bool) -> Iterable[Finding]:
    fields: list[tuple[str, Any]] = [(f"metadata {name}", value) for name, value in item.metadata.items()]
    if isinstance(item, MultipleChoiceItem):
        fields += [(f"option {number}", option) for number, option in enumerate(item.options, start=1)]
        fields += [("context", item.context)] * has_context
    else:
        fields += [(f"must-have statement {n}", text) for n, text in enumerate(item.must_have, start=1)]
        fields += [(f"nice-to-have statement {n}", text) for n, text in enumerate(item.nice_to_have, start=1)]
    for name, value in fields:
        if value is None or (isinstance(value, str) and not value.strip()):
            yield Finding("empty_field", item.benchmark, item.id, f"{name} is {'null' if value is None else 'empty'}")


def _other_language(item: Item, expected: str, identify: Callable[[str], tuple[str, float]]) -> Iterable[Finding]:
    found, probability = identify(" ".join(text for _, text in _texts(item)))
    if found != expected and probability >= LANGUAGE_CONFIDENCE:
        detail = f"{found} with probability {probability:.2f}, {expected} expected"
        yield Finding("other_language", item.benchmark, item.id, detail)


def _texts(item: Item) -> list[tuple[str, str]]:
    if isinstance(item, OpenItem):
        return [("question", item.question), ("reference", item.reference)]
    return [("context", item.context), ("question", item.question), ("options", " ".join(item.options))]


def _length_outliers(items: Sequence[Item]) -> list[Finding]:
    import numpy as np

    lengths: dict[tuple[str, str], list[tuple[str, int]]] = defaultdict(list)
    for item in items:
        for field, text in _texts(item):
            if text.strip():
                lengths[item.benchmark, field].append((item.id, len(text.split())))
    findings = []
    for (benchmark, field), entries in lengths.items():
        logs = np.log1p([count for _, count in entries])
        low, high = np.percentile(logs, [25, 75])
        margin = FENCE * (high - low)
        if margin == 0:  # at least half the lengths are equal: the fences would flag every other one
            continue
        findings += [
            Finding("length_outlier", benchmark, item_id, f"{field} of {count} words")
            for (item_id, count), value in zip(entries, logs, strict=True)
            if not low - margin <= value <= high + margin
        ]
    return findings
