"""What a reply of the model is: a usable rephrasing, a refusal, or one of the ways to fail. Replies are untrusted."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..items import Generation, MultipleChoiceItem
from ..normalisation import comparable, holds
from .decisions import (
    ANSWERED_INSTEAD_OF_REPHRASING,
    CUT_OFF,
    ECHO_OF_THE_OPTIONS,
    EMPTY,
    EQUAL_TO_THE_ORIGINAL,
    NEITHER_VERSION,
    NOT_THE_ONLY_VALID_ANSWER,
    ONLY_VALID_ANSWER,
    REFUSED_BY_THE_MODEL,
    REPHRASED,
    SELECTED,
    UNPARSED,
)

_THINKING = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL | re.IGNORECASE)
_THINKING_TAG = re.compile(r"</?think>", re.IGNORECASE)
_LABEL = re.compile(r"\A\W*(?:(?:rewritten|rephrased|open-ended|new) )?question\W*:\W*", re.IGNORECASE)
_UNSUITABLE = re.compile(r"\A\W*unsuitable\b", re.IGNORECASE)
_REFERS_TO_OPTIONS = re.compile(
    r"\bof\s+the\s+following\b|\b(?:the|these|following|given|listed)\s+(?:options|alternatives|choices)\b",
    re.IGNORECASE,
)
_LETTERED_LINE = re.compile(r"^\W*[A-E][.):]\s", re.MULTILINE)
_ANSWER_LABEL = re.compile(
    r"(?:^\W*|[.?!]\s+)(?:correct |gold |reference )?answer\W*:|\bthe (?:correct )?answer (?:is|to|should|must)\b",
    re.I | re.M,
)
_COMMENTARY = re.compile(r"^\W*(?:note|explanation|rationale|reasoning)\b[^\n]{0,20}:", re.IGNORECASE | re.MULTILINE)
# A request without a question mark: "Describe ..." opening a sentence or following a comma.
_REQUEST = re.compile(
    r"(?:\A|[.!?:,;]\s+|\n\s*)(?:please )?(?:describe|explain|calculate|compute|name|list|identify|state|define|"
    r"determine|outline|give|specify|compare|interpret|discuss|provide|indicate|mention|estimate|classify|justify|"
    r"summari[sz]e)\b",
    re.IGNORECASE,
)
_CHOICE = re.compile(r"\W*(?:version\s*)?(1|2|none)\W*", re.IGNORECASE)
_VERDICT = re.compile(r"\W*(yes|no)\W*", re.IGNORECASE)


def read_rephrasing(reply: Generation, item: MultipleChoiceItem) -> tuple[str, str]:
    """(outcome, question): the question is "" unless the outcome is REPHRASED or EQUAL_TO_THE_ORIGINAL.

    A reply is an answer instead of a rephrasing where it shows its thinking or a comment, announces an
    answer, holds the gold answer that the original question does not hold, or asks nothing. It echoes the
    options where it speaks of them, letters them, or holds two that the original question does not hold.
    A question equal to the original is usable: it stood alone already.
    """
    text = visible(reply.text)
    if text is None or (text and reply.finish_reason == "length"):
        return CUT_OFF, ""
    if _UNSUITABLE.match(text):
        return REFUSED_BY_THE_MODEL, ""
    question = _LABEL.sub("", text).strip().strip('"“”').strip()
    if not question:
        return EMPTY, ""
    if _REFERS_TO_OPTIONS.search(question) or len(_LETTERED_LINE.findall(question)) > 1:
        return ECHO_OF_THE_OPTIONS, ""
    added = {
        comparable(option) for option in item.options if holds(question, option) and not holds(item.question, option)
    }
    if len(added) > 1:
        return ECHO_OF_THE_OPTIONS, ""
    asks = "?" in question or _REQUEST.search(question)
    if (
        comparable(item.options[item.gold]) in added
        or not asks
        or _ANSWER_LABEL.search(question)
        or _COMMENTARY.search(question)
    ):
        return ANSWERED_INSTEAD_OF_REPHRASING, ""
    return (EQUAL_TO_THE_ORIGINAL if comparable(question) == comparable(item.question) else REPHRASED), question


def read_choice(reply: Generation, versions: Sequence[str]) -> tuple[str, str]:
    """(outcome, question) of a reply to the selection prompt that showed `versions` in this order.

    Its first line must be a version's number or NONE and nothing else.
    """
    found = _CHOICE.fullmatch(_first_line(reply.text))
    if not found:
        return UNPARSED, ""
    choice = found.group(1).lower()
    if choice == "none":
        return NEITHER_VERSION, ""
    return (SELECTED, versions[int(choice) - 1]) if int(choice) <= len(versions) else (UNPARSED, "")


def read_verdict(reply: Generation) -> str:
    """The outcome of a reply to the validation prompt: its first line must be YES or NO and nothing else."""
    found = _VERDICT.fullmatch(_first_line(reply.text))
    if not found:
        return UNPARSED
    return ONLY_VALID_ANSWER if found.group(1).lower() == "yes" else NOT_THE_ONLY_VALID_ANSWER


def visible(text: str) -> str | None:
    """The reply without a closed block of thinking at its start, None where thinking did not end."""
    text = _THINKING.sub("", text).strip()
    return None if _THINKING_TAG.search(text) else text


def _first_line(text: str) -> str:
    return (visible(text) or "").split("\n", 1)[0]
