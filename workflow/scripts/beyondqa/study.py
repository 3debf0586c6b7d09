"""The config as the study reads it: which models answer which benchmarks, in which jobs."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import benchmarks, metrics, predictions, resources, stages
from .benchmarks import Benchmark
from .benchmarks.base import CredentialedSource

WHOLE = "all"
MAIN_STAGES = {
    "likelihoods": "likelihoods",
    "answers": "greedy",
    "choices": "greedy",
    "judgements": "greedy",
    "relaxed": "relaxed",
}
# Stages whose answers can be recorded elsewhere and read from files -> what the files then hold.
RECORDED_STAGES = {"greedy": "answers", "samples": "answers", "likelihoods": "likelihoods"}
# Stages whose answers are scored beside the greedy ones, for dispersion.
FURTHER_ANSWERS = ("samples", "rephrased", "rephrased_again")


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

    @functools.cached_property
    def withheld_packs(self) -> list[str]:
        """Packs that hold a benchmark whose data are credentialed, which no release may hold."""
        if "rows" in self.config:
            return []
        return [
            pack
            for pack, names in self.packs.items()
            if any(isinstance(self.benchmarks[name].source, CredentialedSource) for name in names)
        ]

    @functools.cached_property
    def families(self) -> list[str]:
        """Metric families of this study: one scoring job a (family, stage, model, pack)."""
        return sorted({metrics.module(name).FAMILY for name in self.config["metrics"]})

    def metric_modules(self, family: str) -> dict[str, dict[str, Any]]:
        """Metric module -> its settings, for one family.

        Encoders named by a Hub id get their folder as `path`; metrics of a helper's or an own stage's answers get
        what they need to know of the stage.
        """
        return self._modules_by_family[family]

    @functools.cached_property
    def _modules_by_family(self) -> dict[str, dict[str, dict[str, Any]]]:
        inference = self.config["inference"]
        judged = inference.get("judged", {})
        shared = {
            "judgements": {key: judged[key] for key in ("judge", "temperature") if key in judged},
            "relaxed": {key: value for key, value in inference.get("relaxed", {}).items() if key != "benchmarks"},
        }
        modules: dict[str, dict[str, dict[str, Any]]] = {}
        for name, settings in self.config["metrics"].items():
            module = metrics.module(name)
            own = self._with_paths(settings or {})
            modules.setdefault(module.FAMILY, {})[name] = {**own, **shared.get(module.INPUT, {})}
        return modules

    def metric_files(self, family: str) -> list[str]:
        """Library files of a family's modules, relative to the library."""
        return [f"metrics/{name}.py" for name in self.metric_modules(family)]

    def metric_environment(self, family: str) -> str:
        """Stem of the environment file that the family's modules need."""
        (environment,) = {metrics.module(name).ENVIRONMENT for name in self.metric_modules(family)}
        return environment

    def metric_input(self, family: str) -> str:
        """What the family's modules score: "likelihoods", "answers" or "judgements"."""
        (kind,) = {metrics.module(name).INPUT for name in self.metric_modules(family)}
        return kind

    def main_stage(self, family: str) -> str:
        """The stage whose answers the tables are about: "likelihoods" or "greedy"."""
        return MAIN_STAGES[self.metric_input(family)]

    def scored_benchmarks(self, family: str, stage: str, model: str, pack: str) -> list[str]:
        """Benchmarks of the pack that a scoring job is about; empty where there is no such job."""
        main = self.main_stage(family)
        if stage != main and (main != "greedy" or stage not in FURTHER_ANSWERS):
            return []
        about = self.judging_stage(stage) if self.metric_input(family) == "judgements" else stage
        asked = set(self.benchmarks_of(model, pack))
        names = self.stage_benchmarks(about, pack, None if about in self.helper_stages else model)
        return [n for n in names if n in asked and self._is_scored_by(family, self.benchmarks[n])]

    def _is_scored_by(self, family: str, benchmark: Benchmark) -> bool:
        """Families of answers score open benchmarks, unless their modules name the tasks that they are about."""
        tasks = {task for name in self.metric_modules(family) for task in getattr(metrics.module(name), "TASKS", ())}
        if tasks:
            return benchmark.task in tasks
        kinds = {"likelihoods": ("multiple_choice", "open"), "choices": ("multiple_choice",)}
        return benchmark.kind in kinds.get(self.metric_input(family), ("open",))

    def _with_paths(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._with_paths(element) for element in value]
        if not isinstance(value, Mapping):
            return value
        resolved = {key: self._with_paths(element) for key, element in value.items()}
        return {**resolved, "path": f"{self.config['hub_mirror']}/{value['id']}"} if "id" in value else resolved

    def group(self, name: str) -> dict[str, Any]:
        return self.config["groups"][name]

    def tasks_of(self, model: str) -> set[str]:
        """Tasks that the model is asked, over all groups that it is in."""
        return self._tasks_by_model.get(model, set())

    @functools.cached_property
    def _tasks_by_model(self) -> dict[str, set[str]]:
        tasks: dict[str, set[str]] = {}
        for group in self.config["groups"].values():
            for model in group["models"]:
                tasks.setdefault(model, set()).update(group["tasks"])
        return tasks

    def benchmarks_of(self, model: str, pack: str) -> list[str]:
        """Benchmarks of the pack that the model is asked."""
        tasks = self.tasks_of(model)
        return [name for name in self.packs[pack] if self.benchmarks[name].task in tasks]

    def models_of(self, pack: str) -> list[str]:
        """Models that are asked anything in the pack, in the config's order."""
        return [model for model in self.models if self.benchmarks_of(model, pack)]

    @functools.cached_property
    def helper_stages(self) -> dict[str, str]:
        """Stages in which one helper model works on the answers of all models -> the helper's name."""
        settings = self.config["inference"]
        helping = {name: stages.get(name) for name in stages.names() if stages.get(name).ROLE}
        return {
            name: settings[stage.SETTINGS][stage.ROLE] for name, stage in helping.items() if stage.SETTINGS in settings
        }

    def stage_benchmarks(self, stage: str, pack: str, model: str | None = None) -> list[str]:
        """Benchmarks of the pack that take part in an inference stage, for one model or for any."""
        names = self.packs[pack] if model is None else self.benchmarks_of(model, pack)
        if model is not None and self.models[model]["engine"] == "recorded":
            names = [name for name in names if self._is_recorded(stage, model, name)]
        module = stages.get(stage)
        if not module.SETTINGS:
            return [name for name in names if stage in self._stages_of(self.benchmarks[name])]
        chosen = self.config["inference"].get(module.SETTINGS, {}).get("benchmarks", [])
        answered = self.stage_benchmarks(module.ANSWERS, pack, model) if module.ANSWERS else names
        return [name for name in names if name in chosen and name in answered]

    def _stages_of(self, benchmark: Benchmark) -> tuple[str, ...]:
        """The benchmark's own stages, and answers in text to multiple choice where a metric reads them."""
        read = benchmark.kind == "multiple_choice" and "choices" in self.families
        return (*benchmark.stages, "greedy") if read else benchmark.stages

    def _is_recorded(self, stage: str, model: str, benchmark: str) -> bool:
        """Whether the model's files hold what the stage asks. Of a model that names none, a release does."""
        files = self.models[model]["predictions"]
        if not files:
            return RECORDED_STAGES.get(stage) == "answers"
        return benchmark in files and RECORDED_STAGES.get(stage) == predictions.holds(
            files[benchmark], self.benchmarks[benchmark].kind
        )

    def recorded_benchmarks(self, model: str) -> tuple[list[str], list[str]]:
        """Benchmarks of a model's tasks for which files of predictions are named, and those for which none are."""
        asked = [name for pack in self.packs for name in self.benchmarks_of(model, pack)]
        files = self.models[model].get("predictions", {})
        return [name for name in asked if name in files], [name for name in asked if name not in files]

    def stage_settings(self, stage: str) -> dict[str, Any]:
        """The stage's own settings from the config, without the list of benchmarks."""
        settings = self.config["inference"].get(stages.get(stage).SETTINGS, {})
        return {key: value for key, value in settings.items() if key != "benchmarks"}

    def stage_prompts(self, stage: str) -> list[str]:
        """Prompt files that the stage reads."""
        return [f"resources/prompts/{name}.txt" for name in stages.get(stage).PROMPTS]

    @functools.cached_property
    def template_models(self) -> list[str]:
        """Models that are asked both with their chat template and without, in the config's order."""
        chosen = self.config.get("chat_template_study", {}).get("models", [])
        return [model for model in self.models if model in chosen]

    def template_stages(self, model: str) -> tuple[str, ...]:
        """Stages in which the model is asked with the chat template's other setting too."""
        return ("greedy", "likelihoods") if model in self.template_models else ()

    @property
    def other_template(self) -> str:
        """The folder of what is asked with the other setting of the chat template than the study's own."""
        return f"chat_template_{'off' if self.config['inference']['chat_template'] else 'on'}"

    def judging_stage(self, stage: str) -> str:
        """The stage that judges the answers of `stage`."""
        (name,) = (n for n in stages.names() if stages.get(n).ROLE == "judge" and stage == stages.get(n).ANSWERS)
        return name

    def model_directory(self, model: str) -> Path | None:
        """Where the model's files lie, None for an engine that needs none."""
        entry = self.models[model]
        if "path" in entry:
            return Path(entry["path"])
        if "embedded" in entry or "derived_from" in entry:
            return Path("resources/models") / model
        if "id" in entry and "base_url" not in entry:
            return Path(self.config["hub_mirror"]) / entry["id"]
        return None

    @functools.cached_property
    def parity_models(self) -> list[str]:
        """Models about which the engines are compared: the config's, else the smallest that has weights."""
        local = [name for name, entry in self.models.items() if entry["engine"] in resources.LOCAL_ENGINES]
        smallest = sorted(local, key=lambda name: self.models[name].get("parameters", math.inf))[:1]
        return list(self.config["parity"].get("models", smallest))

    def gpus(self, model: str) -> int:
        """GPUs of one job of the model: the entry's `gpus`, or as many as it runs in parallel on, or as it needs."""
        entry, memory = self.models[model], self.config["planning"]["gpu_memory_gb"]
        return entry.get("gpus", entry.get("tensor_parallel", resources.gpus(entry, memory)))

    def memory_mb(self, model: str) -> int:
        """Main memory of one job of the model, MB."""
        return self.models[model].get("mem_mb", resources.memory_mb(self.models[model]))

    def runtime_minutes(self, model: str, attempt: int = 1) -> int:
        """Time limit of an attempt (1, 2, ...) at one job of the model, minutes; at most what the partition takes."""
        first = self.models[model].get("runtime", resources.runtime_minutes(self.models[model]))
        return min(first * attempt, int(60 * self.config["planning"]["longest_job_hours"]))

    def shards(self, stage: str) -> int:
        """Jobs that one (model, pack) of the stage is split into."""
        inference = self.config["inference"]
        return inference.get("stage_shards", {}).get(stage, inference["shards"])
