"""Items that are equal, nearly equal, or ask the same question, within a benchmark and across benchmarks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

from ..items import Item, MultipleChoiceItem
from ..normalisation import comparable

if TYPE_CHECKING:
    import numpy as np

IDENTICAL, NEAR, SAME_QUESTION = KINDS = ("identical", "near", "same_question")
SHINGLE = 5  # bytes
NEAR_JACCARD = 0.7
# 32 bands of 4 rows: a pair at Jaccard J becomes a candidate with probability 1 - (1 - J**4)**32, .9998 at .7.
BANDS, ROWS = 32, 4


@dataclass(frozen=True, slots=True)
class Pair:
    """Two items that are alike. `jaccard` is of their shingles, in [0, 1], exact (not MinHash's estimate)."""

    kind: str
    benchmark_a: str
    id_a: str
    benchmark_b: str
    id_b: str
    jaccard: float


def question_text(item: Item) -> str:
    """What stands before the options or the answer, as words."""
    context = item.context if isinstance(item, MultipleChoiceItem) else ""
    return words(f"{context} {item.question}")


def whole_text(item: Item) -> str:
    """Question and options (in any order), or question and reference, as words."""
    if isinstance(item, MultipleChoiceItem):
        return " ".join([question_text(item), *sorted(map(words, item.options))])
    return f"{question_text(item)} {words(item.reference)}"


def words(text: str) -> str:
    """The text's wording; a text that is nothing but punctuation stays as it is."""
    return comparable(text) or text


def find_pairs(items: Sequence[Item]) -> list[Pair]:
    """All pairs of alike items, sorted.

    - identical: equal `whole_text`;
    - near: Jaccard index of the sets of 5-byte shingles of `whole_text` at least 0.7;
    - same_question: equal `question_text` alone.
    A pair is listed once, under the first of these. Of several identical items, or several with the same
    question, each is paired with the first one of its benchmark, and the first ones of two benchmarks with
    each other, so that n equal items make n - 1 pairs.
    """
    wholes = [whole_text(item) for item in items]
    first = _representatives(items, wholes)
    shingled = {i: shingles(wholes[i]) for i in first}
    pairs: dict[tuple[int, int], str] = {}
    for kind, found in (
        (IDENTICAL, _equal(items, wholes)),
        (NEAR, _near(shingled)),
        (SAME_QUESTION, _equal(items, [question_text(item) for item in items])),
    ):
        for pair in found:
            pairs.setdefault(pair, kind)
    rows = []
    for (i, j), kind in pairs.items():
        score = 1.0 if kind == IDENTICAL else jaccard(*(shingles(wholes[k]) for k in (i, j)))
        a, b = sorted((items[i], items[j]), key=lambda item: (item.benchmark, item.id))
        rows.append(Pair(kind, a.benchmark, a.id, b.benchmark, b.id, score))
    return sorted(rows, key=lambda p: (p.benchmark_a, p.benchmark_b, KINDS.index(p.kind), -p.jaccard, p.id_a, p.id_b))


def overlaps(pairs: Iterable[Pair]) -> list[dict[str, object]]:
    """Rows (benchmark_a, benchmark_b, kind, pairs, items_a, items_b): items on either side that have a twin."""
    grouped: dict[tuple[str, str, str], list[Pair]] = defaultdict(list)
    for pair in pairs:
        grouped[pair.benchmark_a, pair.benchmark_b, pair.kind].append(pair)
    return [
        {
            "benchmark_a": a,
            "benchmark_b": b,
            "kind": kind,
            "pairs": len(found),
            "items_a": len({pair.id_a for pair in found}),
            "items_b": len({pair.id_b for pair in found}),
        }
        for (a, b, kind), found in grouped.items()
    ]


def shingles(text: str) -> np.ndarray:
    """Sorted distinct CRC-32 hashes of the text's 5-byte substrings (of the whole text where it is shorter)."""
    import numpy as np

    data = text.encode("utf-8", "surrogatepass")
    return np.unique([crc32(data[i : i + SHINGLE]) for i in range(max(1, len(data) - SHINGLE + 1))]).astype(np.uint32)


def jaccard(a: np.ndarray, b: np.ndarray) -> float:
    """Size of the intersection over size of the union of two sorted sets."""
    import numpy as np

    shared = len(np.intersect1d(a, b, assume_unique=True))
    return shared / (len(a) + len(b) - shared)


def _representatives(items: Sequence[Item], keys: Sequence[str]) -> list[int]:
    """Position of the first item of each (benchmark, key)."""
    first: dict[tuple[str, str], int] = {}
    for i, (item, key) in enumerate(zip(items, keys, strict=True)):
        first.setdefault((item.benchmark, key), i)
    return sorted(first.values())


def _equal(items: Sequence[Item], keys: Sequence[str]) -> list[tuple[int, int]]:
    groups: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for i, key in enumerate(keys):
        groups[key][items[i].benchmark].append(i)
    pairs = []
    for group in groups.values():
        firsts = sorted(members[0] for members in group.values())
        pairs += [(members[0], i) for members in group.values() for i in members[1:]]
        pairs += [(i, j) for position, i in enumerate(firsts) for j in firsts[position + 1 :]]
    return pairs


def _near(shingled: dict[int, np.ndarray]) -> list[tuple[int, int]]:
    """Pairs at NEAR_JACCARD or more: candidates by MinHash and locality-sensitive hashing, then measured."""
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(num_perm=BANDS * ROWS, params=(BANDS, ROWS))
    sketches = MinHash.generator(
        (hashes.tolist() for hashes in shingled.values()), num_perm=BANDS * ROWS, seed=1, hashfunc=int
    )
    pairs = []
    for i, sketch in zip(shingled, sketches, strict=True):
        pairs += [(j, i) for j in sorted(index.query(sketch)) if jaccard(shingled[j], shingled[i]) >= NEAR_JACCARD]
        index.insert(i, sketch, check_duplication=False)
    return pairs
