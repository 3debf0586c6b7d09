"""Reading an answer: the option it states and the explanation it gives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..extraction import EMPTY, NO_STATEMENT, chosen_option

THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
# Markdown that the paper's code takes off, in its order: bold, italics, headings, list marks.
MARKDOWN = [
    (re.compile(r"\*\*(.*?)\*\*", re.DOTALL), r"\1"),
    (re.compile(r"\*(.*?)\*", re.DOTALL), r"\1"),
    (re.compile(r"^\s*#{1,6}\s*", re.MULTILINE), ""),
    (re.compile(r"^\s*[-*]\s+", re.MULTILINE), ""),
]
EXPLANATION = "Explanation:"


@dataclass(frozen=True, slots=True)
class Answer:
    """`letter` is None where no single option is stated, `explanation` where none is given; `problem` says why."""

    letter: str | None
    explanation: str | None
    problem: str = ""


def read(text: str, options: Sequence[str]) -> Answer:
    """The option stated before "Explanation:", and what follows it, which is None where there is nothing.

    Only where nothing is stated before the explanation is the explanation searched for the option. Thinking
    text is taken off first; Markdown too, and the explanation's blanks are collapsed, as in the paper's code.
    """
    head, found, tail = _without_markdown(THINKING.sub("", text)).partition(EXPLANATION)
    choice = chosen_option(head, options)
    if choice.reason in (EMPTY, NO_STATEMENT):
        choice = chosen_option(tail, options)
    explanation = " ".join(tail.split())
    missing = "" if explanation else "the explanation is empty" if found else "no explanation"
    return Answer(choice.letter, explanation or None, "; ".join(filter(None, [choice.reason, missing])))


def _without_markdown(text: str) -> str:
    for mark, kept in MARKDOWN:
        text = mark.sub(kept, text)
    return text
