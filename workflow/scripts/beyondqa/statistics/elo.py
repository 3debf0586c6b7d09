"""Chatbot Arena ratings, from the snapshot in resources/elo (its date is in the file's name)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..records import read_csv

if TYPE_CHECKING:
    import pandas as pd

ELO = "resources/elo/chatbot_arena_2024-10-15.csv"


def elo_ratings(path: str | os.PathLike = ELO) -> pd.Series:
    """Elo rating (points) by model; models that were never rated are not in it."""
    return read_csv(path).set_index("model")["elo"]
