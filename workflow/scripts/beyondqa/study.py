"""The config as the study reads it: which models answer which benchmarks, in which jobs."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import benchmarks, metrics
from .benchmarks import Benchmark

WHOLE = "all"


@dataclass(frozen=True)
class Study:
    """A validated config with the questions that the workflow asks of it. Cheap: no torch, no tables."""

    config: Mapping[str, Any]

    @functools.cached_property
    def benchmarks(self) -> dict[str, Benchmark]:
        """The benchmarks of this study by name, in the config's order."""
        return {name: benchmarks.get(name) for name in self.config["benchmarks"]}

    @functools.cached_property
    def models(self) -> dict[str, dict[str, Any]]:
        """Model entries by name, in the config's order."""
        return {entry["name"]: dict(entry) for entry in self.config["models"]}

    @functools.cached_property
    def packs(self) -> dict[str, list[str]]:
        """Pack -> its benchmarks. A pack is what one inference job serves."""
        if self.config["inference"]["packs"] == WHOLE:
            return {WHOLE: list(self.benchmarks)}
        packs: dict[str, list[str]] = {}
        for name, benchmark in self.benchmarks.items():
            packs.setdefault(benchmark.task, []).append(name)
        return packs

    @property
    def families(self) -> list[str]:
        """Metric families of this study: one scoring job a (family, model, pack)."""
        return sorted({metrics.module(name).FAMILY for name in self.config["metrics"]})

    def metric_modules(self, family: str) -> dict[str, dict[str, Any]]:
        """Metric module -> its settings, for one family."""
        return {
            name: dict(settings or {})
            for name, settings in self.config["metrics"].items()
            if metrics.module(name).FAMILY == family
        }

    def group(self, name: str) -> dict[str, Any]:
        return self.config["groups"][name]

    def tasks_of(self, model: str) -> set[str]:
        """Tasks that the model is asked, over all groups that it is in."""
        return {task for group in self.config["groups"].values() if model in group["models"] for task in group["tasks"]}

    def benchmarks_of(self, model: str, pack: str) -> list[str]:
        """Benchmarks of the pack that the model is asked."""
        tasks = self.tasks_of(model)
        return [name for name in self.packs[pack] if self.benchmarks[name].task in tasks]

    def models_of(self, pack: str) -> list[str]:
        """Models that are asked anything in the pack, in the config's order."""
        return [model for model in self.models if self.benchmarks_of(model, pack)]

    def stage_benchmarks(self, stage: str, pack: str, model: str | None = None) -> list[str]:
        """Benchmarks of the pack that take part in an inference stage, for one model or for any."""
        names = self.packs[pack] if model is None else self.benchmarks_of(model, pack)
        if stage in ("likelihoods", "greedy"):
            names = [name for name in names if stage in self.benchmarks[name].stages]
            if stage == "likelihoods" and model is not None and self.models[model]["engine"] == "recorded":
                return []
            return names
        settings = self.config["inference"].get(stage)
        return [name for name in names if name in settings["benchmarks"]] if settings else []

    def model_directory(self, model: str) -> Path | None:
        """Where the model's files lie, None for an engine that needs none."""
        entry = self.models[model]
        if "path" in entry:
            return Path(entry["path"])
        if "embedded" in entry or "derived_from" in entry:
            return Path("resources/models") / model
        if "id" in entry and entry["engine"] in ("transformers", "vllm"):
            return Path(self.config["hub_mirror"]) / entry["id"]
        return None
