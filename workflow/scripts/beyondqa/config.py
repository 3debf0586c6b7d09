"""Checking a config: every fault is one sentence that names the key, what it got and what it may be."""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from . import benchmarks, engines, metrics, predictions, stages
from .errors import StudyError
from .registry import suggestion
from .relaxed_perplexity import readings
from .resources import GPU_ENGINES, LOCAL_ENGINES

SCHEMA = Path(__file__).resolve().parents[2] / "schemas" / "config.schema.yaml"
SOURCES = ("id", "path", "embedded", "derived_from", "predictions", "base_url")


@functools.cache
def schema() -> dict[str, Any]:
    """The JSON schema of a config."""
    return yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))


def validated(config: Mapping[str, Any]) -> dict[str, Any]:
    """The config with defaults filled in. Raises StudyError that lists every fault."""
    checked = copy.deepcopy(dict(config))
    rules = schema()
    faults = [_sentence(error) for error in Draft202012Validator(rules).iter_errors(checked)]
    if not faults:
        _fill_defaults(checked, rules)
        faults = list(_semantic_faults(checked))
    if faults:
        raise StudyError("the config cannot be used:\n  - " + "\n  - ".join(sorted(set(faults))))
    return checked


def _fill_defaults(value: Any, rules: Mapping[str, Any]) -> None:
    if isinstance(value, dict):
        for key, rule in rules.get("properties", {}).items():
            if "default" in rule and key not in value:
                value[key] = copy.deepcopy(rule["default"])
            if key in value:
                _fill_defaults(value[key], rule)
        others = rules.get("additionalProperties")
        if isinstance(others, dict):
            for key in value.keys() - rules.get("properties", {}).keys():
                _fill_defaults(value[key], others)
    elif isinstance(value, list):
        for element in value:
            _fill_defaults(element, rules.get("items", {}))


def _sentence(error: ValidationError) -> str:
    key = _key(error.absolute_path)
    if error.validator == "additionalProperties":
        allowed = sorted(error.schema.get("properties", {}))
        unknown = sorted(set(error.instance) - set(allowed))
        return "; ".join(
            f"{_key([*error.absolute_path, name])} is no key. {suggestion(name, allowed)}" for name in unknown
        )
    if error.validator == "required":
        missing = sorted(set(error.validator_value) - set(error.instance))
        return f"{key} lacks {', '.join(missing)}"
    expectation = {
        "type": lambda v: f"must be of type {_types(v)}",
        "enum": lambda v: f"may be one of: {', '.join(map(str, v))}",
        "minimum": lambda v: f"must be at least {v}",
        "maximum": lambda v: f"must be at most {v}",
        "exclusiveMinimum": lambda v: f"must be above {v}",
        "pattern": lambda v: f"must match {v}",
        "minItems": lambda v: f"needs at least {v} element",
        "minProperties": lambda v: f"needs at least {v} key",
    }.get(error.validator, lambda v: error.message)(error.validator_value)
    return f"{key} is {error.instance!r}; it {expectation}"


def _types(types: str | list[str]) -> str:
    return types if isinstance(types, str) else " or ".join(types)


def _key(path: Iterable[str | int]) -> str:
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.lstrip(".") or "the config"


def _semantic_faults(config: Mapping[str, Any]) -> Iterator[str]:
    model_names = [entry["name"] for entry in config["models"]]
    yield from _unknown("benchmarks", config["benchmarks"], benchmarks.names(), "benchmark")
    yield from _unknown("metrics", config["metrics"], metrics.names(), "metric")
    yield from _metric_faults(config["metrics"])
    yield from _model_faults(config["models"], model_names)
    yield from _prediction_faults(config)
    yield from _pickle_faults(config)
    yield from _repository_faults(config)
    for group, settings in config["groups"].items():
        yield from _unknown(f"groups.{group}.models", settings["models"], model_names, "model of this config")
        yield from _unknown(f"groups.{group}.tasks", settings["tasks"], list(benchmarks.TASKS), "task")
    local = [entry["name"] for entry in config["models"] if entry["engine"] in LOCAL_ENGINES]
    yield from _unknown("parity.models", config["parity"].get("models", []), local, "model that both engines can run")
    yield from _template_faults(config, model_names)
    yield from _relaxed_faults(config)
    sharded = config["inference"].get("stage_shards", {})
    yield from _unknown("inference.stage_shards", sharded, stages.names(), "stage")
    for stage, settings in config["inference"].items():
        if isinstance(settings, dict) and stage != "stage_shards":
            known = list(config["benchmarks"])
            yield from _unknown(
                f"inference.{stage}.benchmarks", settings["benchmarks"], known, "benchmark of this config"
            )
            for helper in {"rephraser", "judge"} & settings.keys():
                yield from _unknown(
                    f"inference.{stage}.{helper}", [settings[helper]], model_names, "model of this config"
                )
    first, second = (config["inference"].get(key, {}).get("rephraser") for key in ("rephrased", "rephrased_again"))
    if first and first == second:
        yield f"inference.rephrased_again.rephraser is {second!r}, and so is the first; name another model"
    yield from _unknown("sensitivity.models", config["sensitivity"]["models"], local, "model that an engine here runs")


def _unknown(key: str, got: Iterable[str], known: list[str], kind: str) -> Iterator[str]:
    for name in got:
        if name not in known:
            yield f"{key} names {name!r}, which is no {kind}. {suggestion(name, known)}"


def _metric_faults(chosen: Mapping[str, Any]) -> Iterator[str]:
    """Settings of which a metric's own module says that they cannot be."""
    for name in sorted(chosen.keys() & set(metrics.names())):
        faults = getattr(metrics.module(name), "faults", None)
        yield from (f"metrics.{name} {fault}" for fault in (faults(chosen[name] or {}) if faults else ()))


def _model_faults(entries: list[dict[str, Any]], names: list[str]) -> Iterator[str]:
    seen: dict[str, str] = {}
    for number, entry in enumerate(entries):
        key, name = f"models[{number}]", entry["name"]
        if name.lower() in seen:
            yield f"{key}.name is {name!r}, and so is {seen[name.lower()]}'s (case aside); names must differ"
        seen.setdefault(name.lower(), key)
        yield from _unknown(f"{key}.engine", [entry["engine"]], engines.names(), "engine")
        given = [source for source in SOURCES if source in entry]
        if len(given) != 1 and given != ["id", "base_url"]:
            yield f"{key} ({name}) has {', '.join(given) or 'no source'}; it needs exactly one of {', '.join(SOURCES)}"
        if entry["engine"] in GPU_ENGINES and "parameters" not in entry and "gpus" not in entry:
            yield f"{key} ({name}) lacks parameters (billions), by which its jobs get GPUs, memory and time"
        if 0 < entry.get("gpus", 0) < entry.get("tensor_parallel", 1):
            yield f"{key} ({name}) has tensor_parallel {entry['tensor_parallel']} on gpus {entry['gpus']}"
        if "derived_from" in entry:
            yield from _unknown(f"{key}.derived_from", [entry["derived_from"]], names, "model of this config")
            if "noise" not in entry:
                yield f"{key} ({name}) is derived and lacks noise"
    for source in ("id", "path"):
        owners: dict[str, str] = {}
        for entry in entries:
            if source in entry and owners.setdefault(entry[source], entry["name"]) != entry["name"]:
                pair = f"models {owners[entry[source]]} and {entry['name']}"
                yield f"{pair} share the {source} {entry[source]!r}; each model once"


def _prediction_faults(config: Mapping[str, Any]) -> Iterator[str]:
    """Files of predictions whose entries do not fit their format, or that nothing would read."""
    for number, entry in enumerate(config["models"]):
        key = f"models[{number}].predictions"
        if (entry["engine"] == "recorded") != ("predictions" in entry):
            yield f"{key}: the engine recorded has predictions, and no other has them"
        yield from _unknown(key, entry.get("predictions", {}), benchmarks.names(), "benchmark")
        for name, settings in entry.get("predictions", {}).items():
            if name not in benchmarks.names():
                continue
            benchmark = benchmarks.get(name)
            kind = benchmark.kind
            faults = list(predictions.faults(settings, kind))
            yield from (f"{key}.{name} {fault}" for fault in faults)
            asked = kind == "multiple_choice" and "likelihoods" in benchmark.stages and name in config["benchmarks"]
            if not faults and asked and predictions.holds(settings, kind) == "answers" and not _reads_choices(config):
                yield f"{key}.{name} holds answers in text, which only metrics.generated_accuracy reads"


def _reads_choices(config: Mapping[str, Any]) -> bool:
    known = [name for name in config["metrics"] if name in metrics.names()]
    return any(metrics.module(name).INPUT == "choices" for name in known)


def _relaxed_faults(config: Mapping[str, Any]) -> Iterator[str]:
    """More best completions than samples, or a stride beyond the completion."""
    for key in sorted({"relaxed", "relaxed_grid"} & config["inference"].keys()):
        try:
            readings(config["inference"][key])
        except StudyError as error:
            yield f"inference.{key}: {error}"


def _template_faults(config: Mapping[str, Any], names: list[str]) -> Iterator[str]:
    """Models of chat_template_study that are not there, or whose engine leaves no choice of the template."""
    key, chosen = "chat_template_study.models", config.get("chat_template_study", {}).get("models", [])
    yield from _unknown(key, chosen, names, "model of this config")
    for entry in config["models"]:
        if entry["name"] in chosen and entry["engine"] not in LOCAL_ENGINES:
            yield f"{key} names {entry['name']!r}, whose engine {entry['engine']} takes no chat template from the study"


def _pickle_faults(config: Mapping[str, Any]) -> Iterator[str]:
    """Pickles of a Hub repository that are trusted whatever they will be, wherever in the config."""
    for path, settings in _mappings(config, ()):
        if settings.get("pickled_weights") and "id" in settings and "revision" not in settings:
            yield (
                f"{_key(path)} ({settings['id']}) trusts pickled weights and names no `revision`; "
                "`snakemake --cores 1 fetch_models` prints the commit that it brought"
            )


def _repository_faults(config: Mapping[str, Any]) -> Iterator[str]:
    """Ids of the metrics' models that are no Hub repository's, from which `fetch` would make a folder."""
    repository = schema()["properties"]["models"]["items"]["properties"]["id"]["pattern"]
    for path, settings in _mappings(config["metrics"], ("metrics",)):
        if "id" in settings and not re.search(repository, str(settings["id"])):
            yield f"{_key((*path, 'id'))} is {settings['id']!r}; give a Hub repository, <owner>/<repository>"


def _mappings(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    """Every mapping within a value, itself included, with its path."""
    if isinstance(value, Mapping):
        yield path, value
        for key, element in value.items():
            yield from _mappings(element, (*path, key))
    elif isinstance(value, list):
        for number, element in enumerate(value):
            yield from _mappings(element, (*path, number))


def reference_page() -> str:
    """docs/configuration.md: every key of the schema with its type, default and meaning."""
    rules = schema()
    head = [
        "# Configuration",
        "",
        "Made from workflow/schemas/config.schema.yaml by `make docs`.",
        "",
        rules["description"].strip(),
        "",
    ]
    table = ["| key | type | default | meaning |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *table, *_rows(rules, "")]) + "\n"


def _rows(rules: Mapping[str, Any], path: str) -> Iterator[str]:
    for name, rule in rules.get("properties", {}).items():
        key = f"{path}.{name}".lstrip(".")
        kind = _types(rule["type"]) + (f": {', '.join(map(str, rule['enum']))}" if "enum" in rule else "")
        default = f"`{rule['default']}`" if "default" in rule else ""
        yield f"| `{key}` | {kind} | {default} | {rule['description'].strip().replace('|', chr(92) + '|')} |"
        yield from _rows(rule, key)
    for container, suffix in (("items", "[]"), ("additionalProperties", ".<name>")):
        if isinstance(rules.get(container), dict):
            yield from _rows(rules[container], path + suffix)


if __name__ == "__main__":
    print(reference_page(), end="")
