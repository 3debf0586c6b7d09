"""Finding the modules of a room by their names, so that a new one is one new file."""

from __future__ import annotations

import difflib
import functools
import importlib
import pkgutil
from types import ModuleType

from .errors import StudyError


def module_names(package: ModuleType) -> list[str]:
    """Names of the public modules of a package, sorted; `base` and names with a leading underscore are not."""
    return list(_module_names(package))


@functools.cache
def _module_names(package: ModuleType) -> tuple[str, ...]:
    return tuple(
        sorted(m.name for m in pkgutil.iter_modules(package.__path__) if m.name != "base" and m.name[0] != "_")
    )


@functools.cache
def load_module(package: ModuleType, name: str, kind: str) -> ModuleType:
    """The module `name` of the package. Raises StudyError that lists what there is."""
    names = module_names(package)
    if name not in names:
        raise StudyError(f"no {kind} is called {name!r}", remedy=suggestion(name, names))
    return importlib.import_module(f"{package.__name__}.{name}")


def suggestion(name: str, names: list[str]) -> str:
    """A sentence that says what the name may be, the nearest first."""
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    return f"{hint}It may be one of: {', '.join(names)}"
