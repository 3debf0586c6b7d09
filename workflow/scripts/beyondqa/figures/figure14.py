"""Paper 1, figure 14: resilience of the metrics to rephrasing, Phi-3-mini-4k-instruct."""

from __future__ import annotations

from ._resilience import resilience_figure

FIGURE = resilience_figure(14, ("Phi-3-mini-4k-instruct",), "Phi-3-mini-4k-instruct")
