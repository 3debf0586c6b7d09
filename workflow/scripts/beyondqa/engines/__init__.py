"""The engines, one module each: `load(entry)` returns one from a model's config entry."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from ..registry import load_module, module_names
from .base import Engine

__all__ = ["Engine", "load", "module", "names"]


def names() -> list[str]:
    """Names of all engines, sorted."""
    return module_names(sys.modules[__name__])


def module(name: str) -> ModuleType:
    """The engine's module, cheap to import: `load`, `SEMANTICS`, `ENVIRONMENT` and `THREADS` of a job."""
    return load_module(sys.modules[__name__], name, "engine")


def load(entry: Mapping[str, Any]) -> Engine:
    """The engine that the model's entry names, ready to be asked. Raises StudyError on an unknown one."""
    return module(entry["engine"]).load(entry)
