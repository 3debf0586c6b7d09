"""When two texts count as the same wording."""

from __future__ import annotations

import re
import unicodedata

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|\w+|[^\w\s]")
_PUNCTUATION = frozenset('.,;:?!¿¡"“”«»')
_APOSTROPHES = str.maketrans("’‘´`", "''''")


def comparable(text: str) -> str:
    """The text's tokens, one blank between them: texts that differ in case, spacing or punctuation become equal.

    Signs stay, as do decimal points, since -2 and 2, CN+ and CN, 1.5 and 15, A = B and A > B are not the same
    answer; so do apostrophes (5'-3') and brackets, and superscripts are not made digits of.
    """
    folded = unicodedata.normalize("NFC", text).casefold().translate(_APOSTROPHES)
    return " ".join(token for token in _TOKEN.findall(folded) if token not in _PUNCTUATION)


def holds(text: str, part: str) -> bool:
    """Whether the text holds the wording of `part`, token by token. False where `part` has no token."""
    wording = comparable(part)
    return bool(wording) and f" {wording} " in f" {comparable(text)} "
