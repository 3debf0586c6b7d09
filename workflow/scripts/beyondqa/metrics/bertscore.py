"""BERTScore: precision, recall and F1 of greedy matching between contextual token embeddings.

Definition: Zhang and others, "BERTScore: evaluating text generation with BERT" (2020), section 3, without idf
weights and without rescaling, as the package bert-score computes it: separators are matched against but carry
no weight. Values are in [-1, 1]. The paper's encoder is roberta-large, layer 17.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..encoders import Embedded, load, signature
from .base import Metric, Values

FAMILY = "bertscore"
ENVIRONMENT = "metrics"
INPUT = "answers"

PARTS = {"precision": "BERTScore precision", "recall": "BERTScore recall", "f1": "BERTScore"}
PAPER = {"name": "roberta-large", "id": "roberta-large", "layer": 17}
NO_TOKEN = "the encoder finds no token in the answer or in the reference"


def metrics(settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    """Three metrics an encoder; `encoders` lists mappings with name, layer, and id (a folder of the mirror) or
    `embedded: true` and the encoder that it stands in for."""
    return tuple(
        Metric(
            name=_name(part, entry),
            label=f"{label} ({entry['name']})" if entry.get("stand_in") else label,
            higher_is_better=True,
            minimum=-1.0,
            maximum=1.0,
            floor=0.0,
            group="bertscore",
            headline=part == "f1",
            stand_in=entry.get("stand_in", ""),
        )
        for entry in _encoders(settings)
        for part, label in PARTS.items()
    )


def values(pairs: Sequence[tuple[str, str]], settings: Mapping[str, Any], *, threads: int = 1) -> Values:
    """Precision, recall and F1 of each (prediction, reference) pair and encoder; None where the encoder's
    tokenizer finds nothing in a text."""
    columns: dict[str, list[float | None]] = {}
    reasons: dict[int, str] = {}
    truncated: dict[str, frozenset[int]] = {}
    for entry in _encoders(settings):
        names = [_name(part, entry) for part in PARTS]
        columns |= {name: [None] * len(pairs) for name in names}
        cut = set()
        for index, prediction, reference in load(entry, entry["layer"], threads).embed_pairs(pairs):
            matched = greedy_matching(prediction, reference)
            if matched is None:
                reasons[index] = NO_TOKEN
                continue
            for name, value in zip(names, matched, strict=True):
                columns[name][index] = value
            if prediction.truncated or reference.truncated:
                cut.add(index)
        truncated |= {name: frozenset(cut) for name in names}
    return Values(columns, reasons, truncated, {"encoders": [signature(entry) for entry in _encoders(settings)]})


def greedy_matching(prediction: Embedded, reference: Embedded) -> tuple[float, float, float] | None:
    """Precision, recall and F1: means over the content tokens of the best cosine in the other text."""
    if not prediction.content.any() or not reference.content.any():
        return None
    similarities = prediction.vectors @ reference.vectors.T
    precision = similarities.amax(dim=1)[prediction.content].mean().item()
    recall = similarities.amax(dim=0)[reference.content].mean().item()
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0


def _name(part: str, entry: Mapping[str, Any]) -> str:
    return f"bertscore_{part}[{entry['name']},L{entry['layer']}]"


def _encoders(settings: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return settings.get("encoders", [PAPER])
