"""EntQA: the share of a case's entities that an answer takes up, of the background and of the question.

Definition: medRxiv 2025.11.12.25340106 and its public code; the readings are `beyondqa.entqa.variants`.
All values are in [0, 1], but the length.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..entqa import baselines, embedders, extractors, scoring, variants
from ..entqa.variants import Variant
from ..items import Generation, Item, Score
from . import describe
from .base import Metric

FAMILY = "entqa"
ENVIRONMENT = "entqa"
INPUT = "answers"

PAPER = {"extractor": "biomedical-ner-all", "embedder": "Linq-Embed-Mistral"}
LABELS = {"entqa_b": "EntQA_b", "entqa_q": "EntQA_q", "entqa_precision": "EntQA precision"}
BESIDE = (
    Metric("entqa_accuracy", "Accuracy", True, 0.0, 1.0, floor=0.0, group="accuracy"),
    Metric("length[explanation]", "Length (words)", True, 0.0, None, floor=0.0, group="length"),
    Metric("copied_share[8-grams]", "Copied share", False, 0.0, 1.0, group="copied", headline=False),
)


def metrics(settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    """Three metrics a variant, what stands beside them for every answer, and the baselines.

    `settings`: `extractor` (dictionary, scispacy, token_classification), `extractor_model` (Hub id or spaCy
    pipeline), `embedder` (Hub id, or all-minilm-l6-v2 for the embedded one), `variants`, and `baselines`
    (metric modules with their settings; the answer's explanation against the question put).
    """
    own = [
        Metric(
            name=metric_name(settings, kind, variant),
            label=label if variant.name == settings["variants"][0] else f"{label} ({variant.name})",
            higher_is_better=True,
            minimum=0.0,
            maximum=1.0,
            floor=None if variant.drops_missing else 0.0,
            group=kind,
            headline=variant.name == settings["variants"][0],
            stand_in=_stand_in(settings),
        )
        for variant in map(variants.get, settings["variants"])
        for kind, label in LABELS.items()
    ]
    return (*own, *BESIDE, *_baseline_metrics(settings))


def metric_name(settings: Mapping[str, Any], kind: str, variant: Variant) -> str:
    """Name of a metric with its reading, extractor and embedder: `entqa_b[as_coded,dictionary,all-minilm-l6-v2]`."""
    return f"{kind}[{variant.name},{_extractor(settings)},{_last(settings['embedder'])}]"


def baseline_names(settings: Mapping[str, Any]) -> dict[str, str]:
    """The baselines' names in their own modules -> here, where the reference is the question put."""
    return {name: f"{name.removesuffix(']')},question]" for name in describe(settings.get("baselines", {}))}


def scores(
    items: Mapping[str, Item], generations: Iterable[Generation], settings: Mapping[str, Any], *, threads: int = 1
) -> tuple[Iterator[Score], list[dict[str, Any]]]:
    """Scores of the answers and a mapping a record with its entities, covered and missing ones.

    Finds entities and embeds them; jobs that share them over models use `beyondqa.entqa.scoring` in steps.
    """
    records = scoring.read_records(items, generations)
    chosen = [variants.get(name) for name in settings["variants"]]
    mentions = scoring.find_mentions(records, chosen, extractors.load(settings))
    embedder = embedders.load(settings)
    embeddings = embedders.embed(embedder, scoring.phrases(records, chosen, mentions))
    own, details = scoring.score(records, chosen, mentions, embeddings, lambda kind, v: metric_name(settings, kind, v))
    beside = baselines.scores(records, settings.get("baselines", {}), baseline_names(settings), threads=threads)
    return itertools.chain(own, beside), details


def _baseline_metrics(settings: Mapping[str, Any]) -> Iterator[Metric]:
    names = baseline_names(settings)
    for name, metric in describe(settings.get("baselines", {})).items():
        yield dataclasses.replace(metric, name=names[name])


def _extractor(settings: Mapping[str, Any]) -> str:
    return _last(settings.get("extractor_model", settings["extractor"]))


def _last(model: str) -> str:
    return model.rsplit("/", 1)[-1]


def _stand_in(settings: Mapping[str, Any]) -> str:
    real = _extractor(settings) == PAPER["extractor"] and _last(settings["embedder"]) == PAPER["embedder"]
    return "" if real else f"EntQA with {PAPER['extractor']} and {PAPER['embedder']}"
