"""One answer against its case: which entities it takes up, and which of its own stand in the case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .embedders import Embeddings
from .matching import best_match, overlap
from .variants import Variant


@dataclass(frozen=True, slots=True)
class Coverage:
    """Covered entities of the background and of the question with the answer's entity that covers each, and
    the answer's entities that any entity of the case matches."""

    background: dict[str, str]
    question: dict[str, str]
    grounded: tuple[str, ...]


def cover(
    background: Sequence[str], question: Sequence[str], answer: Sequence[str], variant: Variant, embeddings: Embeddings
) -> Coverage:
    """Match the case's entities with the answer's, one pair matrix for all.

    Similarities are looked up only where enough words are shared, see `phrases_to_embed`.
    """
    case = [*background, *question]
    eligible = variant.overlaps(overlap(case, answer))
    rows, columns = np.flatnonzero(eligible.any(axis=1)), np.flatnonzero(eligible.any(axis=0))
    similarity = embeddings.similarity([case[row] for row in rows], [answer[column] for column in columns])
    hits = eligible[np.ix_(rows, columns)] & (similarity > variant.cosine)
    best = best_match(similarity, hits)
    matched = {int(row): answer[columns[column]] for row, column in zip(rows, best, strict=True) if column >= 0}
    return Coverage(
        background={entity: matched[i] for i, entity in enumerate(background) if i in matched},
        question={entity: matched[i] for i, entity in enumerate(question, start=len(background)) if i in matched},
        grounded=tuple(answer[column] for column in columns[hits.any(axis=0)]),
    )


def phrases_to_embed(case: Sequence[str], answer: Sequence[str], variant: Variant) -> set[str]:
    """The entities of a record that share enough words with one of the other side to match it."""
    eligible = variant.overlaps(overlap(case, answer))
    return {case[i] for i in np.flatnonzero(eligible.any(axis=1))} | {
        answer[j] for j in np.flatnonzero(eligible.any(axis=0))
    }
