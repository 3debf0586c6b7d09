"""Reading an answer: the option it states and the explanation it gives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..extraction import EMPTY, NO_STATEMENT, chosen_option

THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
EMPHASIS = re.compile(r"\*+(?=\S)|(?<=\S)\*+|(?<!\w)__(?=\S)|(?<=\S)__(?!\w)|`+|^#{1,6}\s+", re.MULTILINE)
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
    text and Markdown emphasis are taken off first, and the explanation's blanks collapsed, as in the paper's code.
    """
    head, found, tail = EMPHASIS.sub("", THINKING.sub("", text)).partition(EXPLANATION)
    choice = chosen_option(head, options)
    if choice.reason in (EMPTY, NO_STATEMENT):
        choice = chosen_option(tail, options)
    explanation = " ".join(tail.split())
    missing = "" if explanation else "the explanation is empty" if found else "no explanation"
    return Answer(choice.letter, explanation or None, "; ".join(filter(None, [choice.reason, missing])))
