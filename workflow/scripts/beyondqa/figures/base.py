"""What a figure is and the files in which it comes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..records import atomic, write_csv, write_json
from ..statistics.inputs import Analysis, Inputs

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Picture

FORMATS = ("pdf", "png", "csv", "json")
# Fixed metadata: a file holds no date and no version, so that equal numbers give equal bytes.
_METADATA = {
    "pdf": {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": None},
    "png": {"Software": None},
}
_PNG_DPI = 200


@dataclass(frozen=True)
class Drawing:
    """A picture, the numbers that it draws, and what stands below it, a sentence each."""

    picture: Picture
    data: pd.DataFrame
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Figure(Analysis):
    """A figure: one rule, one file in each of FORMATS.

    `subject` and `subject_title` say what a sibling is about (a benchmark or a model); its name is then
    `{module}_{subject}`, the name of any other figure is its module's.
    """

    draw: Callable[[Inputs], Drawing]
    subject: str = ""
    subject_title: str = ""

    @property
    def module(self) -> str:
        return self.name.removesuffix(f"_{self.subject}") if self.subject else self.name


def write(figure: Figure, drawing: Drawing, stem: str | Path) -> None:
    """Write `{stem}.pdf`, `.png`, `.csv` (the numbers drawn) and `.json` (title, caption, notes)."""
    for form, metadata in _METADATA.items():
        with atomic(f"{stem}.{form}", "wb") as file:
            drawing.picture.savefig(file, format=form, dpi=_PNG_DPI, metadata=metadata)
    write_csv(f"{stem}.csv", drawing.data)
    write_json(
        f"{stem}.json",
        {
            "name": figure.name,
            "slug": figure.slug,
            "title": figure.title,
            "caption": figure.caption,
            "notes": list(drawing.notes),
        },
    )


def explanation(reason: str, *notes: str) -> Drawing:
    """A figure that cannot be drawn, with the reason in its place."""
    import pandas as pd

    from ._style import message

    return Drawing(message(reason), pd.DataFrame({"reason": [reason]}), (reason, *notes))
