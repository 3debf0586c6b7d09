"""The benchmarks, one module each: `get(name)` returns its `BENCHMARK`."""

from __future__ import annotations

import sys

from ..registry import load_module, module_names
from .base import TASKS, Benchmark

__all__ = ["TASKS", "Benchmark", "get", "names"]


def names() -> list[str]:
    """Names of all benchmarks, sorted."""
    return module_names(sys.modules[__name__])


def get(name: str) -> Benchmark:
    """The benchmark of that name. Raises StudyError that lists the names there are."""
    return load_module(sys.modules[__name__], name, "benchmark").BENCHMARK
