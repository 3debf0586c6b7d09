"""How much of one text is copied word for word from another: the metric rewards copying, so it is measured."""

from __future__ import annotations

import re

import numpy as np

RUN = 8
WORD = re.compile(r"\w+")


def copied_share(text: str, source: str, run: int = RUN) -> float | None:
    """Share of the words of `text` that stand in a run of at least `run` words found in `source`; 0 to 1.

    The extractive fragment coverage of Grusky et al. 2018 (Newsroom, eq. 1) with a least fragment length,
    so that common words do not count. Case and punctuation are ignored. None for a text without words.
    """
    words, source_words = (WORD.findall(t.lower()) for t in (text, source))
    if not words:
        return None
    runs = {tuple(source_words[i : i + run]) for i in range(len(source_words) - run + 1)}
    copied = np.zeros(len(words), dtype=bool)
    for i in range(len(words) - run + 1):
        if tuple(words[i : i + run]) in runs:
            copied[i : i + run] = True
    return float(copied.mean())
