"""The formats of recorded predictions, one module each: `read(path, settings, holds)` yields what a file holds.

A module has HOLDS, what its files can hold ("answers", "likelihoods" of options), KEYS, which keys of a
predictions' entry in the config it takes beside COMMON_KEYS, and REQUIRED, those among them that it needs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from ..registry import load_module, module_names, suggestion
from .base import as_list

COMMON_KEYS = ("path", "format", "id", "join", "holds", "allow_missing")
DEFAULT = "table"


def names() -> list[str]:
    """Names of all formats, sorted."""
    return module_names(sys.modules[__name__])


def get(name: str) -> ModuleType:
    """The format's module. Raises StudyError that lists the formats there are."""
    return load_module(sys.modules[__name__], name, "format of predictions")


def paths(settings: Mapping[str, Any]) -> list[str]:
    """The files of one benchmark's predictions."""
    return as_list(settings["path"])


def holds(settings: Mapping[str, Any], kind: str) -> str:
    """What the files hold for a benchmark of that kind: "answers", or "likelihoods" of its options."""
    can = get(settings.get("format", DEFAULT)).HOLDS
    return settings.get("holds") or ("likelihoods" if kind == "multiple_choice" and "likelihoods" in can else "answers")


def join_fields(settings: Mapping[str, Any]) -> list[str]:
    """What of an item the predictions are matched with: "id", "question", metadata fields, or several together."""
    return as_list(settings.get("join", "id" if "id" in settings else "question"))


def faults(settings: Mapping[str, Any], kind: str) -> Iterator[str]:
    """What is wrong with one benchmark's entry, a sentence each; `kind` is the benchmark's."""
    name = settings.get("format", DEFAULT)
    if name not in names():
        yield f"names the format {name!r}, which is none. {suggestion(name, names())}"
        return
    module = get(name)
    for key in settings.keys() - {*COMMON_KEYS, *module.KEYS}:
        yield f"has {key}, which the format {name} does not take"
    for key in set(module.REQUIRED) - settings.keys():
        yield f"lacks {key}, which the format {name} needs"
    if "id" in settings and len(as_list(settings["id"])) != len(join_fields(settings)):
        yield "names several fields in id or join; the other has to name as many"
    held = holds(settings, kind)
    if held not in module.HOLDS:
        yield f"holds {held}, which the format {name} cannot: {', '.join(module.HOLDS)}"
    elif held == "likelihoods" and kind != "multiple_choice":
        yield "holds likelihoods, but the benchmark has no options that they could be of"
