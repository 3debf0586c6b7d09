"""From answers to EntQA scores: reading, entities, coverage, and what is kept for every record."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import StudyError
from ..extraction import LETTERS
from ..items import Generation, Item, MultipleChoiceItem, Score
from ..records import Journal
from ..scoring import well_formed
from . import answers, extractors
from .copying import copied_share
from .coverage import Coverage, cover, phrases_to_embed
from .embedders import Embeddings
from .mentions import Mentions, find
from .splitting import Split
from .variants import Variant

COPIED = 0.5
RECALLS = {"entqa_b": "background", "entqa_q": "question"}


@dataclass(frozen=True)
class Record:
    """One answer of one model to one case, read."""

    item: MultipleChoiceItem
    generation: Generation
    answer: answers.Answer

    @property
    def stem(self) -> str:
        return _stem(self.item.question)

    @functools.cached_property
    def copied_share(self) -> float | None:
        """Share of the explanation that is copied from the stem."""
        return copied_share(self.answer.explanation or "", self.stem)

    @functools.cached_property
    def flags(self) -> tuple[str, ...]:
        """What holds of the answer: "empty" (no explanation), "unparsed" (no option stated), "copied" (half of
        the explanation, or of the stem, is copied word for word), "cut", "prompt_cut"."""
        explanation = self.answer.explanation or ""
        flags = {
            "empty": not explanation,
            "unparsed": self.answer.letter is None,
            "copied": max(self.copied_share or 0, copied_share(self.stem, explanation) or 0) >= COPIED,
            "cut": self.generation.finish_reason == "length",
            "prompt_cut": self.generation.prompt_tokens_cut > 0,
        }
        return tuple(name for name, holds in flags.items() if holds)

    @property
    def gold(self) -> str:
        return LETTERS[self.item.gold]


def read_records(items: Mapping[str, Item], generations: Iterable[Generation]) -> list[Record]:
    """The greedy answers with their cases. Raises StudyError for an answer to no case, and for two to one."""
    records: dict[tuple[str, str], Record] = {}
    for generation in generations:
        item = items.get(generation.item_id)
        if not isinstance(item, MultipleChoiceItem):
            problem = "an answer to no case" if item is None else "not a question with options"
            raise StudyError(problem, record=generation.item_id, remedy="Make the answers again from the same data set")
        key = (generation.model, generation.item_id)
        if key in records:
            raise StudyError(f"two answers of {generation.model} to one case", record=generation.item_id)
        text = well_formed(generation.text)
        records[key] = Record(item, generation, answers.read(text, item.options))
    return list(records.values())


def case_texts(record: Record, variant: Variant) -> tuple[str, str, str]:
    """Background, question and explanation of a record; the explanation is "" where there is none."""
    split = _split(variant.split, record.stem)
    return split.background, split.question, record.answer.explanation or ""


def find_mentions(
    records: Sequence[Record],
    variants: Sequence[Variant],
    extractor: extractors.Extractor,
    journals: Mapping[str, Journal] | None = None,
) -> Mentions:
    """Mentions of every distinct text of the records; noun chunks where a variant counts them.

    `journals` may name, by "entities" and "noun_chunks", the journal that keeps what is found.
    """
    journals = journals or {}
    found = {"entities": find(_texts(records, variants), extractor, journals.get("entities"))}
    chunked = [variant for variant in variants if variant.noun_chunks]
    if chunked:
        texts = _texts(records, chunked)
        found["noun_chunks"] = find(texts, extractors.NounChunks(), journals.get("noun_chunks"))
    return Mentions(found)


def record_entities(record: Record, variant: Variant, mentions: Mentions) -> tuple[tuple[str, ...], ...]:
    """Entities of background, question and explanation."""
    return tuple(mentions.entities(text, variant.noun_chunks) for text in case_texts(record, variant))


def phrases(records: Sequence[Record], variants: Sequence[Variant], mentions: Mentions) -> set[str]:
    """Every phrase whose embedding can decide a match."""
    wanted: set[str] = set()
    for variant in variants:
        for record in records:
            background, question, explanation = record_entities(record, variant, mentions)
            wanted |= phrases_to_embed((*background, *question), explanation, variant)
    return wanted


def score(
    records: Sequence[Record],
    variants: Sequence[Variant],
    mentions: Mentions,
    embeddings: Embeddings,
    metric_name: Callable[[str, Variant], str],
) -> tuple[list[Score], list[dict[str, Any]]]:
    """Scores of every record, and one mapping a record with its entities, covered and missing ones.

    `metric_name(kind, variant)` names a metric; kinds are "entqa_b", "entqa_q" and "entqa_precision".
    """
    scores: list[Score] = []
    details: list[dict[str, Any]] = []
    for record in records:
        scores += _answer_scores(record)
        detail = _detail(record)
        for variant in variants:
            entities = record_entities(record, variant, mentions)
            coverage = cover(*entities, variant, embeddings)
            for kind, value, reason in _values(record, variant, entities, coverage):
                scores.append(new_score(record, metric_name(kind, variant), value, reason))
            detail["variants"][variant.name] = _variant_detail(record, variant, mentions, entities, coverage)
        details.append(detail)
    return scores, details


def recall(covered: int, total: int, variant: Variant) -> float | None:
    """Share of the entities that are covered, 0 to 1; the variant's value where there are none."""
    return variant.rounded(covered / total) if total else variant.empty


def _values(
    record: Record, variant: Variant, entities: tuple[tuple[str, ...], ...], coverage: Coverage
) -> Iterator[tuple[str, float | None, str]]:
    """(kind, value, reason) of the three metrics of one variant."""
    missing = record.answer.explanation is None
    sizes = dict(zip(("background", "question", "explanation"), map(len, entities), strict=True))
    for kind, side in RECALLS.items():
        value = 0.0 if missing else recall(len(getattr(coverage, side)), sizes[side], variant)
        yield kind, *_undefined(record, variant, value, f"the {side} has no entity")
    answered = sizes["explanation"]
    precision = variant.rounded(len(coverage.grounded) / answered) if answered else (0.0 if missing else None)
    yield "entqa_precision", *_undefined(record, variant, precision, "the explanation has no entity")


def _undefined(record: Record, variant: Variant, value: float | None, reason: str) -> tuple[float | None, str]:
    if record.answer.explanation is None:
        return (None if variant.drops_missing else value), record.answer.problem
    return value, reason if value is None else ""


def _answer_scores(record: Record) -> Iterator[Score]:
    words = len((record.answer.explanation or "").split())
    reason = "" if record.copied_share is not None else "the explanation has no word"
    yield new_score(record, "entqa_accuracy", float(record.answer.letter == record.gold), record.answer.problem)
    yield new_score(record, "length[explanation]", float(words))
    yield new_score(record, "copied_share[8-grams]", record.copied_share, reason)


def new_score(record: Record, metric: str, value: float | None, reason: str = "", flags: tuple[str, ...] = ()) -> Score:
    """A score of the record's answer; `flags` join those of the record."""
    generation = record.generation
    return Score(
        item_id=generation.item_id,
        benchmark=generation.benchmark,
        model=generation.model,
        variant=generation.variant,
        index=generation.index,
        metric=metric,
        value=value,
        flags=record.flags + flags,
        reason=reason,
    )


def _detail(record: Record) -> dict[str, Any]:
    return {
        "item_id": record.generation.item_id,
        "benchmark": record.generation.benchmark,
        "model": record.generation.model,
        "gold": record.gold,
        "letter": record.answer.letter,
        "problem": record.answer.problem,
        "variants": {},
    }


def _variant_detail(
    record: Record,
    variant: Variant,
    mentions: Mentions,
    entities: tuple[tuple[str, ...], ...],
    coverage: Coverage,
) -> dict[str, Any]:
    """Text, covered and missing entities and their places, for each of background, question, explanation."""
    texts = case_texts(record, variant)
    covered = (coverage.background, coverage.question, dict.fromkeys(coverage.grounded, ""))
    return {
        side: {
            "text": text,
            "covered": dict(matched) if side != "explanation" else list(matched),
            "missing": [entity for entity in found if entity not in matched],
            "spans": mentions.spans(text, noun_chunks=variant.noun_chunks),
        }
        for side, text, found, matched in zip(
            ("background", "question", "explanation"), texts, entities, covered, strict=True
        )
    }


def _texts(records: Sequence[Record], variants: Sequence[Variant]) -> list[str]:
    """Distinct texts in their order, so that equal requests make equal batches."""
    return list(dict.fromkeys(text for record in records for v in variants for text in case_texts(record, v)))


@functools.cache
def _split(split: Callable[[str], Split], stem: str) -> Split:
    return split(stem)


@functools.cache
def _stem(question: str) -> str:
    return well_formed(question)
