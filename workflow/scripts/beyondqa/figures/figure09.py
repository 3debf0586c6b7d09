"""Paper 1, figure 9: multiple choice benchmarks and Elo, medium models."""

from __future__ import annotations

from ._elo import elo_figure

FIGURE = elo_figure(9, "medium_elo", "medium")
