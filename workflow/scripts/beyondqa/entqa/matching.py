"""Which entities of one text the entities of another take up: embedding similarity and shared words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def overlap(left: Sequence[str], right: Sequence[str]) -> np.ndarray:
    """Jaccard index of the sets of whitespace tokens, for every pair; (len(left), len(right)), 0 to 1."""
    columns: dict[str, int] = {}
    for phrase in (*left, *right):
        for word in phrase.split():
            columns.setdefault(word, len(columns))
    left_words, right_words = _indicators(left, columns), _indicators(right, columns)
    shared = left_words @ right_words.T
    union = left_words.sum(1)[:, None] + right_words.sum(1)[None, :] - shared
    return np.divide(shared, union, out=np.zeros(shared.shape), where=union > 0)


def _indicators(phrases: Sequence[str], columns: dict[str, int]) -> np.ndarray:
    rows = np.zeros((len(phrases), len(columns)))
    cells = [(i, columns[word]) for i, phrase in enumerate(phrases) for word in phrase.split()]
    if cells:
        rows[tuple(zip(*cells, strict=True))] = 1
    return rows


def best_match(similarity: np.ndarray, eligible: np.ndarray) -> np.ndarray:
    """For every row the most similar eligible column, -1 where no column is eligible; (rows,).

    One column may serve several rows. Of equals the first wins.
    """
    if not eligible.size:
        return np.full(len(eligible), -1)
    best = np.where(eligible, similarity, -np.inf).argmax(axis=1)
    return np.where(eligible.any(axis=1), best, -1)
