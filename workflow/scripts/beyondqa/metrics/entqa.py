"""EntQA: the share of a case's entities that an answer takes up, of the background and of the question.

Definition: medRxiv 2025.11.12.25340106 and its public code; `beyondqa.entqa.variants` has the readings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..entqa import embedders, extractors, scoring, variants
from ..entqa.variants import Variant
from ..items import Generation, Item, Score
from ..registry import suggestion
from .base import Metric

FAMILY = "entqa"
ENVIRONMENT = "entqa"
INPUT = "answers"
TASKS = ("entqa",)

PAPER = {
    "extractor": {"name": "biomedical-ner-all", "kind": "token_classification", "id": "d4data/biomedical-ner-all"},
    "embedder": {"name": "Linq-Embed-Mistral", "id": "Linq-AI-Research/Linq-Embed-Mistral"},
    "variants": ["as_coded", "as_published"],
}
LABELS = {"entqa_b": "EntQA_b", "entqa_q": "EntQA_q", "entqa_precision": "EntQA precision"}
BESIDE = (
    Metric("entqa_accuracy", "Accuracy", True, 0.0, 1.0, floor=0.0, group="accuracy"),
    Metric("length[explanation]", "Length (words)", True, 0.0, None, floor=0.0, group="length"),
    Metric("copied_share[8-grams]", "Copied share", False, 0.0, 1.0, group="copied", headline=False),
)


def metrics(settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    """Three metrics a variant, in [0, 1], and what stands beside them for every answer.

    `settings`, the paper's by default: `extractor` and `embedder` as their modules load them, each with a
    `name`, and `variants`, of which the first is the headline.
    """
    headline = _setting(settings, "variants")[0]
    return (
        *(
            Metric(
                name=metric_name(settings, kind, variant),
                label=label if variant.name == headline else f"{label} ({variant.name})",
                higher_is_better=True,
                minimum=0.0,
                maximum=1.0,
                floor=None if variant.drops_missing else 0.0,
                group=kind,
                headline=variant.name == headline,
                stand_in=_stand_in(settings),
            )
            for variant in chosen_variants(settings)
            for kind, label in LABELS.items()
        ),
        *BESIDE,
    )


def faults(settings: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the settings that a config gives, a sentence each."""
    for key in sorted(settings.keys() - PAPER.keys()):
        yield f"has {key}, which is no setting of EntQA. {suggestion(key, sorted(PAPER))}"
    named = _setting(settings, "variants")
    if not named:
        yield "has no variants"
    for name in named:
        if name not in variants.VARIANTS:
            yield f"names the variant {name!r}, which is none. {suggestion(name, list(variants.VARIANTS))}"
    kind = _setting(settings, "extractor").get("kind")
    if kind not in extractors.KINDS:
        yield f"names the kind {kind!r} of extractor, which is none. {suggestion(str(kind), list(extractors.KINDS))}"
    for part, places in (("extractor", extractors.KINDS.get(kind, ())), ("embedder", ("embedded", "id", "path"))):
        entry = _setting(settings, part)
        if "name" not in entry:
            yield f"has an {part} without a name"
        if places and not entry.keys() & set(places):
            yield f"has an {part} without {' or '.join(places)}"


def metric_name(settings: Mapping[str, Any], kind: str, variant: Variant) -> str:
    """Name of a metric with its reading, extractor and embedder: `entqa_b[as_coded,dictionary,all-minilm-l6-v2]`."""
    return f"{kind}[{variant.name},{','.join(names(settings))}]"


def chosen_variants(settings: Mapping[str, Any]) -> list[Variant]:
    """The variants of the settings, in their order."""
    return [variants.get(name) for name in _setting(settings, "variants")]


def scores(
    items: Mapping[str, Item], generations: Iterable[Generation], settings: Mapping[str, Any]
) -> tuple[list[Score], list[dict[str, Any]]]:
    """Scores of the answers, and a mapping a record with its entities, covered and missing ones.

    Finds entities and embeds them; jobs that share them over models use `beyondqa.entqa.scoring` in steps.
    """
    records = scoring.read_records(items, generations)
    chosen = chosen_variants(settings)
    mentions = scoring.find_mentions(records, chosen, load_extractor(settings))
    embeddings = embedders.embed(load_embedder(settings), scoring.phrases(records, chosen, mentions))
    return scoring.score(records, chosen, mentions, embeddings, lambda kind, v: metric_name(settings, kind, v))


def load_extractor(settings: Mapping[str, Any]) -> extractors.Extractor:
    """The extractor of the settings."""
    return extractors.load(_setting(settings, "extractor"))


def load_embedder(settings: Mapping[str, Any]) -> embedders.Embedder:
    """The embedder of the settings."""
    return embedders.load(_setting(settings, "embedder"))


def names(settings: Mapping[str, Any]) -> tuple[str, str]:
    """Names of extractor and embedder."""
    return _setting(settings, "extractor")["name"], _setting(settings, "embedder")["name"]


def _setting(settings: Mapping[str, Any], key: str) -> Any:
    return settings.get(key, PAPER[key])


def _stand_in(settings: Mapping[str, Any]) -> str:
    paper = names(PAPER)
    return "" if names(settings) == paper else f"EntQA with {' and '.join(paper)}"
