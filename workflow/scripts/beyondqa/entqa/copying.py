"""How much of one text is copied word for word from another: the metric rewards copying, so it is measured."""

from __future__ import annotations

import functools
import re

import numpy as np

RUN = 8
WORD = re.compile(r"\w+")


def copied_share(text: str, source: str, run: int = RUN) -> float | None:
    """Share of the words of `text` that stand in a run of at least `run` words found in `source`; 0 to 1.

    The extractive fragment coverage of Grusky et al. 2018 (Newsroom, eq. 1) with a least fragment length,
    so that common words do not count. Case and punctuation are ignored. None for a text without words.
    """
    words, known = _words(text), set(_runs(source, run))
    if not words:
        return None
    copied = np.zeros(len(words), dtype=bool)
    for i, found in enumerate(_runs(text, run)):
        if found in known:
            copied[i : i + run] = True
    return float(copied.mean())


def _words(text: str) -> list[str]:
    return WORD.findall(text.lower())


@functools.lru_cache(maxsize=1000)
def _runs(text: str, run: int) -> tuple[tuple[str, ...], ...]:
    words = _words(text)
    return tuple(tuple(words[i : i + run]) for i in range(len(words) - run + 1))
