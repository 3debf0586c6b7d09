"""Paper 1, figure 8: multiple choice benchmarks and Elo, small models."""

from __future__ import annotations

from ._elo import elo_figure

FIGURE = elo_figure(8, "small_elo", "small")
