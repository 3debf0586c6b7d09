"""Which benchmarks, models and metrics of a study take part in the study of edits."""

from __future__ import annotations

from typing import Any

from ..study import Study

# Metrics of a model's probabilities, by what they score.
TARGET_INPUTS = ("likelihoods", "relaxed")


def edited_benchmarks(study: Study) -> list[str]:
    """Benchmarks whose references are edited. The lists of terms are English; EntQA's answers have entities and no
    reference text."""
    return [
        name
        for name, benchmark in study.benchmarks.items()
        if benchmark.kind == "open" and benchmark.task != "entqa" and benchmark.language == "en"
    ]


def target_benchmarks(study: Study) -> list[str]:
    """Benchmarks whose edited references models are asked about: none that a release would withhold."""
    edited = edited_benchmarks(study)
    packs = [names for pack, names in study.packs.items() if pack not in study.withheld_packs]
    return [name for names in packs for name in names if name in edited]


def target_models(study: Study) -> list[str]:
    """Models that are asked how probable edited references are."""
    return study.config["sensitivity"]["models"] if edited_benchmarks(study) and target_modules(study) else []


def target_modules(study: Study) -> dict[str, dict[str, Any]]:
    """Metric modules that score a model's probabilities of references, with their settings."""
    families = [family for family in study.families if study.metric_input(family) in TARGET_INPUTS]
    return {name: settings for family in families for name, settings in study.metric_modules(family).items()}


def target_variants(study: Study) -> list[str]:
    """The log-likelihoods that the perplexities of the study read."""
    conditional = any(settings.get("conditional") for settings in target_modules(study).values())
    return ["reference", *(["reference_given_prompt"] if conditional else [])]
