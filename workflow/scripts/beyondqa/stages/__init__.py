"""The inference stages, one module each: `requests(job)` says what a model is asked.

A module has SETTINGS, the key of its settings under the config's `inference:` ("" where it has none and takes
every benchmark that names the stage), PROMPTS, names of prompt files, and, where a helper model works on the
answers of all models, ROLE, the helper's key in the settings, and ANSWERS, the stage whose answers it is given.
`follow_up(job, answers)`, where there is one, says what is asked again.
"""

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
