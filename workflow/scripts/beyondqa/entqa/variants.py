"""The metric's readings: as the paper's code has it, as its text has it, and the code's way with missing answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..errors import StudyError
from .splitting import Split, split_as_coded, split_as_published


@dataclass(frozen=True)
class Variant:
    """One reading. A pair matches where cosine > `cosine` and Jaccard >= `overlap` (> where `strict_overlap`).

    `empty` is the recall where a side that has to be covered has no entities: None leaves it undefined.
    `drops_missing` leaves an answer without an explanation out instead of scoring it 0.
    """

    name: str
    split: Callable[[str], Split]
    noun_chunks: bool
    cosine: float = 0.7
    overlap: float = 0.3
    strict_overlap: bool = False
    decimals: int | None = None
    empty: float | None = None
    drops_missing: bool = False

    def overlaps(self, overlap: np.ndarray) -> np.ndarray:
        """Which pairs share enough words to match."""
        return overlap > self.overlap if self.strict_overlap else overlap >= self.overlap

    def rounded(self, value: float) -> float:
        return value if self.decimals is None else round(value, self.decimals)


AS_CODED = Variant("as_coded", split_as_coded, noun_chunks=True, decimals=2, empty=0.0)
AS_PUBLISHED = Variant("as_published", split_as_published, noun_chunks=False, strict_overlap=True)
VARIANTS = {
    variant.name: variant
    for variant in (AS_CODED, AS_PUBLISHED, replace(AS_CODED, name="as_coded_dropping", drops_missing=True))
}


def get(name: str) -> Variant:
    """The variant of that name. Raises StudyError that lists the names there are."""
    if name not in VARIANTS:
        raise StudyError(f"EntQA has no variant {name!r}", remedy=f"It may be one of: {', '.join(VARIANTS)}")
    return VARIANTS[name]
