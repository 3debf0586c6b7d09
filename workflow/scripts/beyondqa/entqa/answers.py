"""Reading an answer: the letter it chooses and the explanation it gives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
EMPHASIS = re.compile(r"\*+(?=\S)|(?<=\S)\*+|(?<!\w)__(?=\S)|(?<=\S)__(?!\w)|`+|^#{1,6}\s+", re.MULTILINE)
CHOICE = re.compile(
    r"[Cc]orrect\s+(?:answer|option|choice)\s+(?:is|would\s+be)\s*:?\s*[\[(]*(?:[Oo]ption\s+)?([A-Z])\b"
)
# "A" may be the article of what follows: then it names no option.
ARTICLE = re.compile(r"\s+(?!because\b|since\b|as\b)[a-z]")
EXPLANATION = "Explanation:"


@dataclass(frozen=True, slots=True)
class Answer:
    """`letter` is None where no single option is named, `explanation` where none is given; `problem` says why."""

    letter: str | None
    explanation: str | None
    problem: str = ""


def read(text: str, letters: Sequence[str]) -> Answer:
    """The option that the sentence "the correct answer is ..." names, and what follows "Explanation:".

    The sentence before the explanation counts; only without one is the explanation searched. A letter
    that is no option of the item, or two sentences that name different ones, leave the answer unparsed.
    Thinking text and Markdown are taken off first and blanks collapsed, as in the paper's code.
    """
    plain = " ".join(EMPHASIS.sub("", THINKING.sub("", text)).split())
    head, found, tail = plain.partition(EXPLANATION)
    named = _named(head) or _named(tail)
    letter = next(iter(named)) if len(named) == 1 and named <= set(letters) else None
    explanation = tail.strip() or None
    return Answer(letter, explanation, "; ".join(filter(None, [_letter_problem(named, letter), _missing(found, tail)])))


def _named(text: str) -> set[str]:
    matches = CHOICE.finditer(text)
    return {m[1] for m in matches if not (m[1] == "A" and ARTICLE.match(text, m.end()))}


def _letter_problem(named: set[str], letter: str | None) -> str:
    if letter is not None:
        return ""
    return f"names {', '.join(sorted(named))}" if named else "names no option"


def _missing(found: str, tail: str) -> str:
    if tail.strip():
        return ""
    return "the explanation is empty" if found else "no explanation"
