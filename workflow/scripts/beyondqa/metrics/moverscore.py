"""MoverScore: one minus the earth mover's distance between two sets of contextual embeddings.

Definition: Zhao and others, "MoverScore: text generation evaluating with contextualized embeddings and earth
mover distance" (2019), section 3, unigrams, with the choices of the authors' second release: last layer, unit
vectors, Euclidean distance, the first piece of each word, ASCII punctuation left out, separators kept. Every
token weighs the same (no idf), so that a value depends on nothing but its pair. Values are in [-1, 1], since the
distance is in [0, 2].
"""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from ..encoders import Embedded, load, signature
from .base import Metric, Values

if TYPE_CHECKING:
    import numpy as np

FAMILY = "moverscore"
ENVIRONMENT = "metrics"
INPUT = "answers"

AUTHORS = {"name": "distilbert-base-uncased", "id": "distilbert-base-uncased", "layer": 6}


def metrics(settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    """One metric an encoder; `encoders` as for BERTScore."""
    return tuple(
        Metric(
            name=_name(entry),
            label=f"MoverScore ({entry['name']})" if entry.get("stand_in") else "MoverScore",
            higher_is_better=True,
            minimum=-1.0,
            maximum=1.0,
            floor=0.0,
            group="moverscore",
            stand_in=entry.get("stand_in", ""),
        )
        for entry in _encoders(settings)
    )


def values(pairs: Sequence[tuple[str, str]], settings: Mapping[str, Any], *, threads: int = 1) -> Values:
    """MoverScore of each (prediction, reference) pair and encoder; distances run in `threads` processes."""
    from joblib import Parallel, delayed

    columns: dict[str, list[float | None]] = {}
    truncated: dict[str, frozenset[int]] = {}
    for entry in _encoders(settings):
        column: list[float | None] = [None] * len(pairs)
        order: list[int] = []
        cut: set[int] = set()
        embedded = load(entry, entry["layer"], threads).embed_pairs(pairs)
        jobs = (delayed(mover_distance)(*_noted(triple, order, cut)) for triple in embedded)
        distances = Parallel(n_jobs=threads, batch_size=16, return_as="generator")(jobs)
        for position, distance in enumerate(distances):
            column[order[position]] = 1.0 - distance
        columns[_name(entry)] = column
        truncated[_name(entry)] = frozenset(cut)
    return Values(
        columns,
        truncated=truncated,
        signature={
            "encoders": [signature(entry) for entry in _encoders(settings)],
            "POT": version("POT"),
            "idf": False,
        },
    )


def mover_distance(left: np.ndarray, right: np.ndarray) -> float:
    """Earth mover's distance, Euclidean, between the rows of two arrays of unit vectors, all weighing the same.

    Exact, by POT's network simplex.
    """
    import numpy as np
    import ot

    left, right = left.astype(np.float64), right.astype(np.float64)
    squared = (left**2).sum(axis=1)[:, None] + (right**2).sum(axis=1)[None, :] - 2 * left @ right.T
    distances = np.sqrt(np.maximum(squared, 0.0))
    return float(ot.emd2(np.full(len(left), 1 / len(left)), np.full(len(right), 1 / len(right)), distances))


def _noted(embedded: tuple[int, Embedded, Embedded], order: list[int], cut: set[int]) -> tuple[np.ndarray, np.ndarray]:
    index, prediction, reference = embedded
    order.append(index)
    if prediction.truncated or reference.truncated:
        cut.add(index)
    return _words(prediction), _words(reference)


def _words(text: Embedded) -> np.ndarray:
    """Vectors of the separators and of the first piece of each word that is no punctuation mark."""
    kept = [
        position
        for position, (token, starts) in enumerate(zip(text.tokens, text.word_starts, strict=True))
        if starts and token not in PUNCTUATION
    ]
    return text.vectors[kept].numpy()


PUNCTUATION = frozenset(string.punctuation)


def _name(entry: Mapping[str, Any]) -> str:
    return f"moverscore[{entry['name']},L{entry['layer']},noidf]"


def _encoders(settings: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return settings.get("encoders", [AUTHORS])
