"""EntQA over a grid of thresholds: how the group-level correlation depends on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..statistics.correlation import correlate
from .embedders import Embeddings
from .matching import overlap
from .mentions import Mentions
from .scoring import RECALLS, Record, record_entities
from .variants import Variant

if TYPE_CHECKING:
    import pandas as pd

# The grid of the authors' ablation.
COSINES = (0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
OVERLAPS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
COEFFICIENTS = ("spearman", "kendall")


def every_phrase(records: Sequence[Record], variant: Variant, mentions: Mentions) -> set[str]:
    """All entities of the records: without a least overlap any pair may match."""
    return {
        phrase for record in records for entities in record_entities(record, variant, mentions) for phrase in entities
    }


def sweep(records: Sequence[Record], variant: Variant, mentions: Mentions, embeddings: Embeddings) -> pd.DataFrame:
    """Correlation of the models' accuracy with their mean recall at every pair of thresholds.

    One row a (benchmark, kind, cosine, overlap): `kind` is "entqa_b" or "entqa_q", `variant` the reading's name,
    `strict_overlap` whether a Jaccard index equal to the threshold fails, `n` the number of models, `spearman` and
    `kendall` with their p (`p_...`), `reason` where there is none. All but the thresholds is the variant's.
    """
    import pandas as pd

    rows = [
        (record.generation.benchmark, record.generation.model, record.answer.letter == record.gold, kind, recalls)
        for record in records
        for kind, recalls in zip(RECALLS, _recalls(record, variant, mentions, embeddings), strict=True)
    ]
    table = pd.DataFrame(rows, columns=["benchmark", "model", "right", "kind", "recalls"])
    found = []
    for (benchmark, kind), part in table.groupby(["benchmark", "kind"], sort=False):
        models = part.groupby("model", sort=False)
        accuracy = models["right"].mean().to_numpy(float)
        means = np.stack([_mean_where_defined(list(grids)) for _, grids in models["recalls"]])
        reading = {"variant": variant.name, "strict_overlap": variant.strict_overlap}
        found += [{**row, **reading} for row in _correlations(benchmark, kind, accuracy, means)]
    return pd.DataFrame(found)


def _correlations(benchmark: str, kind: str, accuracy: np.ndarray, means: np.ndarray) -> list[dict]:
    rows = []
    for i, cosine in enumerate(COSINES):
        for j, least in enumerate(OVERLAPS):
            result = correlate(accuracy, means[:, i, j])
            row = {"benchmark": benchmark, "kind": kind, "cosine": cosine, "overlap": least, "n": result["n"]}
            row |= {name: result[name] for name in COEFFICIENTS}
            rows.append(
                {**row, **{f"p_{name}": result[f"{name}_p"] for name in COEFFICIENTS}, "reason": result["reason"]}
            )
    return rows


def _mean_where_defined(grids: Sequence[np.ndarray]) -> np.ndarray:
    return np.ma.masked_invalid(np.stack(grids)).mean(axis=0).filled(np.nan)


def _recalls(record: Record, variant: Variant, mentions: Mentions, embeddings: Embeddings) -> list[np.ndarray]:
    """Recalls of background and question on the grid, each (cosines, overlaps); NaN where they are undefined."""
    *case, answer = record_entities(record, variant, mentions)
    if record.answer.explanation is None:
        return [_filled(None if variant.drops_missing else 0.0) for _ in case]
    return [_recall_grid(side, answer, variant, embeddings) for side in case]


def _recall_grid(side: Sequence[str], answer: Sequence[str], variant: Variant, embeddings: Embeddings) -> np.ndarray:
    if not side or not answer:
        return _filled(0.0 if side else variant.empty)
    shared, similarity = overlap(side, answer), embeddings.similarity(side, answer)
    passing = [replace(variant, overlap=least).overlaps(shared) for least in OVERLAPS]
    nearest = np.stack([np.where(passes, similarity, -np.inf).max(axis=1) for passes in passing], axis=1)
    covered = (nearest[None] > np.array(COSINES)[:, None, None]).sum(axis=1)
    return np.vectorize(lambda count: variant.rounded(count / len(side)), otypes=[float])(covered)


def _filled(value: float | None) -> np.ndarray:
    return np.full((len(COSINES), len(OVERLAPS)), np.nan if value is None else value)
