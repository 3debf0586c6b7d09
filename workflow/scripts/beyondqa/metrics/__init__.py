"""The metrics, one module each."""

from __future__ import annotations

import sys
from types import ModuleType

from ..registry import load_module, module_names


def names() -> list[str]:
    """Names of all metric modules, sorted."""
    return module_names(sys.modules[__name__])


def module(name: str) -> ModuleType:
    """The metric module of that name. Raises StudyError that lists the names there are."""
    return load_module(sys.modules[__name__], name, "metric")
