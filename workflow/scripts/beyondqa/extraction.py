"""The option that a free-text answer chooses: a letter, or unparsed and why.

Strict: a letter counts where the answer states it as the answer, never where it stands inside prose, and text
between thinking marks is not read. Nothing is guessed; what is unparsed counts as wrong and is counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

EMPTY = "the answer is empty"
THINKING = "the thinking did not end"
NO_STATEMENT = "no option is stated as the answer"
SEVERAL = "several options are stated as the answer"
NO_OPTION = "the letter is none of the options"

_MARKUP = re.compile(r"[*`$]+")
_THOUGHTS = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.IGNORECASE | re.DOTALL)
_OPEN_THOUGHT = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_CLOSED_THOUGHT = re.compile(r"^.*</think(?:ing)?>", re.IGNORECASE | re.DOTALL)

# What may follow a letter that is an answer: the end, a mark, or a word that goes on to explain it.
_AFTER = r"(?=\s*(?:$|[\n.,:;)\]}\"']|[-–—]\s|\()|[ \t]+(?i:because|since|as|due\s+to|which|for)\b)"

# Further letters, as in "A/B" or "A, C and D".
_MORE = r"(?P<more>(?:\s*(?:[/,&+]|,?\s*\b(?:and|or)\b)\s*[\[(]?[A-Z](?![A-Za-z]))*)"

# "The (correct|final|best) answer is (option) [B]", "Answer: B", "answer_choice": "B. ...".
_STATEMENT = re.compile(
    r"(?i:\banswer(?:[_ ]choice)?\"?\s*(?:is|:)\s*:?\s*(?:the\s+)?(?:option|choice|letter)?\s*:?)"
    rf"\s*[\"'\[(]*\s*(?!N/A\b)(?P<letter>[A-Z]){_MORE}{_AFTER}"
)
_BOXED = re.compile(rf"\\boxed\s*\{{\s*(?:\\\w+\s*\{{)?[\s(\[]*(?P<letter>[A-Z]){_MORE}[\s)\].}}]")
_WHOLE = re.compile(r"[\"'\[(]*\s*(?P<letter>[A-Z])\s*(?:[\])\".:,]+\s*(?P<text>.*))?", re.DOTALL)


@dataclass(frozen=True)
class Choice:
    """`letter` of the chosen option, or None with the reason."""

    letter: str | None
    reason: str = ""


def chosen_option(answer: str, options: Sequence[str]) -> Choice:
    """The option that the answer states.

    Read in this order: an answer that is a letter, with its option's text or none; an option's text alone; the
    statements "the answer is X", "answer: X", "answer_choice: X" and boxed letters, which must agree.
    """
    text = _without_thoughts(answer)
    if text is None:
        return Choice(None, THINKING)
    text = _MARKUP.sub("", text).strip()
    if not text:
        return Choice(None, EMPTY)
    whole = _whole_answer(text, options)
    if whole is not None:
        return _among(whole, options)
    matches = [match for pattern in (_STATEMENT, _BOXED) for match in pattern.finditer(text)]
    stated = {_stated_letter(match, options) for match in matches}
    if not stated:
        return Choice(None, NO_STATEMENT)
    if len(stated) > 1 or any(match["more"] for match in matches):
        return Choice(None, SEVERAL)
    return _among(stated.pop(), options)


def _whole_answer(text: str, options: Sequence[str]) -> str | None:
    match = _WHOLE.fullmatch(text)
    if match:
        rest = _plain(match["text"] or "")
        index = LETTERS.index(match["letter"])
        if not rest or (index < len(options) and rest == _plain(options[index])):
            return match["letter"]
    equal = [index for index, option in enumerate(options) if _plain(option) == _plain(text)]
    return LETTERS[equal[0]] if len(equal) == 1 else None


def _stated_letter(match: re.Match[str], options: Sequence[str]) -> str:
    """The letter, unless it begins an option's own text, as in "E. coli"."""
    following = _plain(match.string[match.start("letter") :].split("\n", 1)[0])
    named = [index for index, option in enumerate(options) if len(option) > 1 and following.startswith(_plain(option))]
    return LETTERS[named[0]] if len(named) == 1 else match["letter"]


def _among(letter: str, options: Sequence[str]) -> Choice:
    return Choice(letter) if LETTERS.index(letter) < len(options) else Choice(None, NO_OPTION)


def _without_thoughts(text: str) -> str | None:
    """The text after its thinking; None where the thinking does not end."""
    text = _THOUGHTS.sub("", text)
    if _OPEN_THOUGHT.search(text):
        return None
    return _CLOSED_THOUGHT.sub("", text)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).strip(" .\"'()[]")
