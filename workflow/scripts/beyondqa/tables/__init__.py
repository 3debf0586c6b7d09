"""The tables, one module each with its `TABLE`."""

from __future__ import annotations

import sys

from ..registry import load_module, module_names
from .base import Table

__all__ = ["Table", "collection", "get"]


def collection() -> list[Table]:
    """All tables, in the order of their modules' names."""
    return [get(name) for name in module_names(sys.modules[__name__])]


def get(name: str) -> Table:
    """The table of that module. Raises StudyError that lists the names there are."""
    return load_module(sys.modules[__name__], name, "table").TABLE
