"""A language model as judge: absolute grading with a reference, 1 to 5 (Prometheus 2 in the papers).

Definition: Kim and others, "Prometheus 2: an open source language model specialized in evaluating other language
models" (2024), with instruction, rubric and wording of ours (resources/prompts/judge_*.txt), since the papers'
are not published. The judge is asked at temperature 0, so that variance stems from the answers; `temperature`
names another setting. A judgement that cannot be read is asked for again at temperature 1, a bounded number of
times, and is null and flagged "invalid" if none can be read; it is never given a default. An answer without a
visible character is not put to the judge and gets the lowest score.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..errors import StudyError
from ..items import Generation, Item, OpenItem, Score
from .base import Metric

FAMILY = "judge"
ENVIRONMENT = "analysis"
INPUT = "judgements"

LOWEST, HIGHEST = 1, 5
VARIANT = "judgement"
PROMPTS = ("judge_system", "judge_absolute", "judge_rubric")

_MARKER = re.compile(r"\[\s*result\s*\]", re.IGNORECASE)
_SCORE = re.compile(
    r"[\s*:(\[]*([1-5])(?:\s*/\s*5|\s+out\s+of\s+5)?"
    r"(?![\d/%]|[.,]\d|\s*(?:-|–|to|or|and)\s*\d|\s*/|\s+out\s+of)",
    re.IGNORECASE,
)


def metrics(settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    """`judge` is the judge's name, `temperature` what it was asked at, `stand_in` what it stands in for."""
    return (
        Metric(
            name=name(settings),
            label=f"Judge ({settings['judge']})" if settings.get("stand_in") else "Prometheus",
            higher_is_better=True,
            minimum=LOWEST,
            maximum=HIGHEST,
            floor=LOWEST,
            group="judge",
            stand_in=settings.get("stand_in", ""),
        ),
    )


def name(settings: Mapping[str, Any]) -> str:
    return f"judge[{settings.get('judge', 'prometheus-7b-v2.0')},T={settings.get('temperature', 0)}]"


def messages(item: OpenItem, answer: str, prompts: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What the judge is asked about one answer, as (role, content).

    `prompts` holds the texts of PROMPTS by name; judge_absolute has the fields {instruction}, {response},
    {reference} and {rubric}. Braces inside an answer stay as they are.
    """
    fields = {
        "instruction": item.question,
        "response": answer,
        "reference": item.reference,
        "rubric": prompts["judge_rubric"],
    }
    filled = re.sub(r"\{(instruction|response|reference|rubric)\}", lambda m: fields[m[1]], prompts["judge_absolute"])
    return (("system", prompts["judge_system"]), ("user", filled))


def parse(text: str) -> int | None:
    """The score that a judgement ends with, 1 to 5, or None.

    `text` is what the judge generated, without its prompt. The score is the whole number right after the last
    "[RESULT]"; fractions, ranges, other scales and a marker that no number follows are unread.
    """
    markers = list(_MARKER.finditer(text))
    if not markers:
        return None
    match = _SCORE.match(text, markers[-1].end())
    return int(match[1]) if match else None


def variant(answer: Generation, attempt: int) -> str:
    """The variant of a judgement: which answer it is about and which attempt it is, from 0."""
    return f"{VARIANT}/{answer.variant}/{attempt}"


def scores(items: Mapping[str, Item], records: Sequence[Generation], settings: Mapping[str, Any]) -> Iterator[Score]:
    """The judge's score of each answer. `records` are answers and their judgements, the latter with the answer's
    item, model and index and with `variant` as above; the first attempt that can be read counts.

    Flags: "empty", "invalid" (no attempt could be read: the value is None), "retried". Raises StudyError where an
    answer has no judgement.
    """
    from ..scoring import ANSWER_VARIANTS, is_blank

    attempts: dict[tuple[str, str, str, int], dict[int, str]] = defaultdict(dict)
    for record in records:
        kind, _, rest = record.variant.partition("/")
        if kind == VARIANT:
            judged, _, attempt = rest.partition("/")
            attempts[record.model, record.item_id, judged, record.index][int(attempt)] = record.text
    for answer in records:
        if answer.variant not in ANSWER_VARIANTS or not isinstance(items[answer.item_id], OpenItem):
            continue
        fields = (answer.item_id, answer.benchmark, answer.model, answer.variant, answer.index, name(settings))
        if is_blank(answer.text):
            yield Score(*fields, float(LOWEST), flags=("empty",), reason="the answer is empty")
            continue
        judgements = attempts.get((answer.model, answer.item_id, answer.variant, answer.index))
        if judgements is None:
            raise StudyError(
                f"no judgement of {answer.model}'s answer ({answer.variant} {answer.index})", record=answer.item_id
            )
        read = [(attempt, score) for attempt in sorted(judgements) if (score := parse(judgements[attempt])) is not None]
        if read:
            attempt, score = read[0]
            yield Score(*fields, float(score), flags=("retried",) if attempt else ())
        else:
            reason = f"no score in {len(judgements)} judgements"
            yield Score(*fields, None, flags=("invalid",), reason=reason)
