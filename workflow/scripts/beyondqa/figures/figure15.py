"""Paper 1, figure 15: resilience of the metrics to rephrasing, Yi-1.5-9B-Chat."""

from __future__ import annotations

from ._resilience import resilience_figure

FIGURE = resilience_figure(15, ("Yi-1.5-9B-Chat",), "Yi-1.5-9B-Chat")
