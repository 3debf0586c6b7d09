"""What a figure is and the files in which it comes."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..records import atomic, write_csv, write_json
from ..statistics.digits import steady
from ..statistics.inputs import Analysis, Inputs

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Picture

FORMATS = ("pdf", "png", "csv", "json")
# Fixed metadata: a file holds no date and no version, so that equal numbers give equal bytes.
_NO_DATES = {"CreationDate": None, "ModDate": None, "Producer": None, "Creator": None}
_PNG_DPI = 160
_PNG_COLOURS = 256


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
        """The module that draws it."""
        return self.name.removesuffix(f"_{self.subject}") if self.subject else self.name

    @property
    def rule(self) -> str:
        """The rule that makes it: its own, or that of all siblings of a module."""
        return f"{self.module}_siblings" if self.subject else self.name


def write(figure: Figure, drawing: Drawing, stem: str | Path) -> None:
    """Write `{stem}.pdf`, `.png`, `.csv` (the numbers drawn) and `.json` (title, caption, notes)."""
    with atomic(f"{stem}.png", "wb") as file:
        file.write(_png(drawing.picture))
    # The layout is worked out once, not for each form again.
    drawing.picture.set_layout_engine("none")
    with atomic(f"{stem}.pdf", "wb") as file:
        drawing.picture.savefig(file, format="pdf", metadata=_NO_DATES)
    write_csv(f"{stem}.csv", steady(drawing.data))
    write_json(
        f"{stem}.json",
        {
            "name": figure.name,
            "rule": figure.rule,
            "slug": figure.slug,
            "title": figure.title,
            "caption": figure.caption,
            "notes": list(drawing.notes),
        },
    )


def _png(picture: Picture) -> bytes:
    """The picture in an indexed palette: a third of the size, since the report carries every figure."""
    import numpy as np
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from PIL import Image

    picture.set_dpi(_PNG_DPI)
    canvas = FigureCanvasAgg(picture)
    canvas.draw()
    drawn = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")
    indexed = io.BytesIO()
    drawn.quantize(_PNG_COLOURS, dither=Image.Dither.NONE).save(indexed, "png", optimize=True)
    return indexed.getvalue()


def explanation(reason: str, *notes: str) -> Drawing:
    """A figure that cannot be drawn, with the reason in its place."""
    import pandas as pd

    from ._style import message

    return Drawing(message(reason), pd.DataFrame({"reason": [reason]}), (reason, *notes))
