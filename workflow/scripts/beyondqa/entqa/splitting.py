"""A question's stem, parted into the background (the patient's story) and the question put."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from string import whitespace

CLOSING = "\"'”’)]»"
INTERROGATIVE = re.compile(r"\b(?:which|what|who|whom|whose|when|where|why|how)\b", re.IGNORECASE)
# Laboratory tables run into the question with nothing but a reference range before it.
AFTER_REFERENCE_RANGE = re.compile(r"\([^()]*(?:\bN\s*[=<>]|[Nn]ormal|[<>]|\d\s*[–-]\s*\d)[^()]*\)\s+(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Split:
    """`background` may be empty: some stems are one question."""

    background: str
    question: str


def split_as_coded(stem: str) -> Split:
    """The cut of the paper's code: the last run of text that ends in "?" (or "??") and holds no ".", "?" or "!" before.

    It starts a question inside a decimal number ("2.0 ng/mL, which ..." gives "0 ng/mL, which ...") and
    keeps a quotation mark that closes the sentence before. Without a "?" the last sentence is the question.
    """
    asked = stem[: stem.rfind("?") + 1]
    if asked:
        statement = asked.rstrip("?")
        question = asked[max(map(statement.rfind, ".?!")) + 1 :].strip()
    else:
        question = re.split(r"(?<=[.!?])\s+", stem.strip())[-1]
    return Split(_without(stem, stem.find(question), question), question)


def split_as_published(stem: str) -> Split:
    """The cut that the paper's text describes: the last sentence that asks, else the last sentence.

    Sentences are pysbd's, so that decimals, abbreviations and quotations do not end one, and a line
    break does. A quotation mark without its partner at either end of the question stays with the background.
    """
    sentences = [segment.strip() for segment in _segmenter().segment(stem) if segment.strip(CLOSING + whitespace)]
    asking = [sentence for sentence in sentences if sentence.rstrip(CLOSING).endswith("?")]
    question = _after_reference_range(_without_dangling_quote((asking or sentences)[-1])) if sentences else stem.strip()
    return Split(_without(stem, stem.rfind(question), question), question)


@functools.cache
def _segmenter():
    import pysbd

    return pysbd.Segmenter(language="en", clean=False)


def _without_dangling_quote(sentence: str) -> str:
    if sentence.count('"') % 2:
        return sentence.removesuffix('"') if sentence.endswith('"') else sentence.removeprefix('"').lstrip()
    return sentence.removesuffix("”") if sentence.count("”") > sentence.count("“") else sentence


def _after_reference_range(sentence: str) -> str:
    starts = [match.end() for match in AFTER_REFERENCE_RANGE.finditer(sentence)]
    return next((sentence[i:] for i in reversed(starts) if INTERROGATIVE.search(sentence, i)), sentence)


def _without(stem: str, start: int, question: str) -> str:
    before, after = stem[:start].strip(), stem[start + len(question) :].strip()
    return f"{before} {after}".strip()
