"""From answers and log-likelihoods to score records: joining, deduplication, and what counts as empty."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import metrics
from .errors import StudyError
from .items import Generation, Item, LogLikelihood, OpenItem
from .metrics.base import Metric
from .records import SCORE_COLUMNS, scores_frame

if TYPE_CHECKING:
    import pandas as pd

Modules = Mapping[str, Mapping[str, Any] | None]

ANSWER_VARIANTS = ("greedy", "sample", "rephrasing")


@dataclass(frozen=True)
class Column:
    """One metric's values for a list of pairs, with why a value is None and which pairs were read in part."""

    metric: Metric
    values: Sequence[float | None]
    reasons: Mapping[int, str]
    truncated: frozenset[int]


def score_records(
    items: Mapping[str, Item], records: Sequence[Generation | LogLikelihood], modules: Modules, *, threads: int = 1
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Scores of one family's modules, in records.SCORE_COLUMNS, and each module's signature.

    Raises StudyError where a record belongs to no item, or comes twice.
    """
    _require_items(records, items)
    inputs = {metrics.module(name).INPUT for name in modules}
    if inputs == {"answers"}:
        return score_answers(items, records, modules, threads=threads)
    scores = (
        score
        for name, settings in modules.items()
        for score in metrics.module(name).scores(items, records, settings or {})
    )
    return scores_frame(scores), {name: {"settings": settings or {}} for name, settings in modules.items()}


def score_answers(
    items: Mapping[str, Item], generations: Iterable[Generation], modules: Modules, *, threads: int = 1
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Scores of free-text answers against their items' references, in one pass over all variants.

    Answers to multiple-choice items have no reference and are passed over, and so are, for a module with
    `benchmarks` in its settings, answers to others. The same pair of texts is scored once. Flags: "empty" (no
    visible character), "truncated" (the metric read a part), "cut" (the answer reached the token limit),
    "prompt_cut" (the prompt did not fit). Raises StudyError for an answer to no item and for two answers of one
    model to one item under one variant and index.
    """
    import pandas as pd

    generations = list(generations)
    _require_items(generations, items)
    answers = [
        answer
        for answer in generations
        if answer.variant in ANSWER_VARIANTS and isinstance(items[answer.item_id], OpenItem)
    ]
    _refuse_duplicates(answers)
    frames = []
    signatures: dict[str, Any] = {}
    for name, settings in modules.items():
        asked = [
            answer for answer in answers if answer.benchmark in (settings or {}).get("benchmarks", [answer.benchmark])
        ]
        distinct: dict[tuple[str, str], int] = {}
        rows = [distinct.setdefault((answer.text, items[answer.item_id].reference), len(distinct)) for answer in asked]
        columns, signature = score_pairs(list(distinct), {name: settings}, threads=threads)
        signatures |= signature
        frames += [_frame(asked, rows, column) for column in columns.values()]
    frame = pd.concat(frames, ignore_index=True) if answers else scores_frame(())
    return frame, signatures


def score_pairs(
    pairs: Sequence[tuple[str, str]], modules: Modules, *, threads: int = 1
) -> tuple[dict[str, Column], dict[str, Any]]:
    """Every metric of the modules for (prediction, reference) pairs: columns by metric name, signatures by module.

    A prediction without a visible character gets the metric's floor and never reaches the metric, unless its
    module has SCORES_BLANK_ANSWERS; a reference without one makes the value None.
    """
    clean = [(well_formed(prediction), well_formed(reference)) for prediction, reference in pairs]
    blank_references = {index for index, (_, reference) in enumerate(clean) if is_blank(reference)}
    blank_answers = {index for index, (prediction, _) in enumerate(clean) if is_blank(prediction)} - blank_references
    columns: dict[str, Column] = {}
    signatures: dict[str, Any] = {}
    for name, settings in modules.items():
        module = metrics.module(name)
        left_out = (
            blank_references if getattr(module, "SCORES_BLANK_ANSWERS", False) else blank_references | blank_answers
        )
        kept = [index for index in range(len(clean)) if index not in left_out]
        found = module.values([clean[index] for index in kept], settings or {}, threads=threads)
        reasons = {kept[position]: reason for position, reason in found.reasons.items()}
        for metric in module.metrics(settings or {}):
            values: list[float | None] = [None] * len(clean)
            for position, value in enumerate(found.values[metric.name]):
                values[kept[position]] = _finite(value, metric, clean[kept[position]])
            for index in blank_answers & left_out:
                values[index] = metric.floor
            columns[metric.name] = Column(
                metric,
                values,
                reasons
                | dict.fromkeys(blank_answers, "the answer is empty")
                | dict.fromkeys(blank_references, "the reference is empty"),
                frozenset(kept[position] for position in found.truncated.get(metric.name, ())),
            )
        signatures[name] = {"settings": settings or {}, **found.signature}
    return columns, signatures


def is_blank(text: str) -> bool:
    """Whether no character of the text is visible: blanks, control and format characters, lone surrogates."""
    return not any(character.isprintable() and not character.isspace() for character in text)


def well_formed(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD and split pairs joined: tokenizers take no others."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _require_items(records: Iterable[Generation | LogLikelihood], items: Mapping[str, Item]) -> None:
    for record in records:
        if record.item_id not in items:
            raise StudyError(
                f"an answer of {record.model} to no item of the data set files",
                record=record.item_id,
                remedy="Make the answers again from the same data set files",
            )


def _refuse_duplicates(answers: Sequence[Generation]) -> None:
    seen = set()
    for answer in answers:
        identity = (answer.model, answer.item_id, answer.variant, answer.index)
        if identity in seen:
            raise StudyError(f"two answers of {answer.model} ({answer.variant} {answer.index})", record=answer.item_id)
        seen.add(identity)


def _finite(value: float | None, metric: Metric, pair: tuple[str, str]) -> float | None:
    if value is not None and not math.isfinite(value):
        raise StudyError(f"{metric.name} is {value}", record=f"answer {pair[0][:60]!r}", remedy="The metric is broken")
    return value


def _frame(answers: Sequence[Generation], rows: Sequence[int], column: Column) -> pd.DataFrame:
    import pandas as pd

    values = [column.values[row] for row in rows]
    frame = pd.DataFrame(
        {
            "benchmark": [answer.benchmark for answer in answers],
            "item_id": [answer.item_id for answer in answers],
            "model": [answer.model for answer in answers],
            "variant": [answer.variant for answer in answers],
            "index": [answer.index for answer in answers],
            "metric": column.metric.name,
            "value": values,
            "weight": 1.0,
            "flags": [
                ",".join(_flags(answer, row in column.truncated)) for answer, row in zip(answers, rows, strict=True)
            ],
            "reason": [column.reasons[row] if value is None else "" for row, value in zip(rows, values, strict=True)],
        },
        columns=list(SCORE_COLUMNS),
    )
    return frame.astype({"value": "float64", "index": "int64"})


def _flags(answer: Generation, truncated: bool) -> list[str]:
    flags = {
        "empty": is_blank(answer.text),
        "truncated": truncated,
        "cut": answer.finish_reason == "length",
        "prompt_cut": answer.prompt_tokens_cut > 0,
    }
    return [name for name, holds in flags.items() if holds]
