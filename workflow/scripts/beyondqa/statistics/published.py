"""Published figures beside our own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..records import read_csv

if TYPE_CHECKING:
    import pandas as pd

PUBLISHED_COLUMNS = ("published", "difference", "published_source")


def beside_published(cells: pd.DataFrame, path: str | os.PathLike) -> pd.DataFrame:
    """Cells (model, benchmark, metric, mean) with PUBLISHED_COLUMNS: the figure published for the same cell
    in the same unit, our mean minus it, and where it stands. Missing where nothing is published."""
    known = read_csv(path).rename(columns={"source": "published_source"})
    joined = cells.merge(known, on=["model", "benchmark", "metric"], how="left", validate="many_to_one")
    return joined.assign(difference=joined["mean"] - joined["published"])
