"""The keyword filter: questions that ask for the wrong option cannot stand without their options."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..errors import StudyError
from ..items import MultipleChoiceItem
from .decisions import KEYWORD, NO_KEYWORD, Decision

_WORDS = "incorrect|except|false|not correct"

# The paper names the words and not how they are matched. Kept of CareQA's 5,621: 5,098, 5,100 and 5,099.
READINGS = {
    "case_insensitive": re.compile(rf"(?i:{_WORDS})|NOT"),
    "case_sensitive": re.compile(rf"{_WORDS}|NOT"),
    "whole_word": re.compile(rf"\b(?i:{_WORDS})\b|\bNOT\b"),
}


def keyword(question: str, reading: str) -> str | None:
    """The first keyword in the question, None where there is none. Upper-case NOT is a keyword in every reading.

    Raises StudyError on an unknown reading.
    """
    if reading not in READINGS:
        raise StudyError(f"no reading of the keyword filter is called {reading!r}", remedy=f"Use one of {[*READINGS]}")
    found = READINGS[reading].search(question)
    return found.group() if found else None


def filter_keywords(items: Iterable[MultipleChoiceItem], reading: str) -> list[Decision]:
    """One decision an item, in the items' order."""
    decisions = []
    for item in items:
        found = keyword(item.question, reading)
        decisions.append(
            Decision(
                item_id=item.id,
                category=str(item.metadata.get("category", "")),
                step="keywords",
                kept=found is None,
                reason=KEYWORD if found else NO_KEYWORD,
                detail=found or "",
            )
        )
    return decisions


def kept_by_reading(items: Iterable[MultipleChoiceItem]) -> dict[str, int]:
    """How many items each reading keeps."""
    questions = [item.question for item in items]
    return {reading: sum(keyword(question, reading) is None for question in questions) for reading in READINGS}
