"""Numbers with as many digits as mean something."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

SIGNIFICANT = 12


def steady(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with floats rounded to SIGNIFICANT digits: the last ones of a sum depend on the machine, and the
    tables of a release are compared byte for byte."""
    floats = frame.select_dtypes("float")
    return frame.assign(**{name: [float(f"{value:.{SIGNIFICANT}g}") for value in floats[name]] for name in floats})
