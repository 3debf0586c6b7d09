"""The figures, one module each with its `FIGURE`.

Where one figure has siblings (the same for another benchmark or model), the module also has
`subjects(study) -> {subject: title}` and `sibling(subject, title) -> Figure`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..registry import load_module, module_names
from .base import Figure

if TYPE_CHECKING:
    from ..study import Study

__all__ = ["Figure", "collection", "get"]

_PACKAGE = sys.modules[__name__]


def collection(study: Study) -> list[Figure]:
    """All figures of the study, siblings after their figure, in the order of the modules' names."""
    figures = []
    for name in module_names(_PACKAGE):
        module = load_module(_PACKAGE, name, "figure")
        figures.append(module.FIGURE)
        if hasattr(module, "subjects"):
            figures += [module.sibling(subject, title) for subject, title in module.subjects(study).items()]
    return figures


def get(module: str, subject: str = "", title: str = "") -> Figure:
    """The figure of that module, or its sibling about a subject. Raises StudyError that lists the modules."""
    found = load_module(_PACKAGE, module, "figure")
    return found.sibling(subject, title) if subject else found.FIGURE
