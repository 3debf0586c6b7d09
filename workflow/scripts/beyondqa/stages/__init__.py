"""The inference stages, one module each: `requests(...)` says what a model is asked."""

from __future__ import annotations

import sys
from types import ModuleType

from ..registry import load_module, module_names


def names() -> list[str]:
    """Names of all stages, sorted."""
    return module_names(sys.modules[__name__])


def get(name: str) -> ModuleType:
    """The stage's module. Raises StudyError that lists the stages there are."""
    return load_module(sys.modules[__name__], name, "stage")
