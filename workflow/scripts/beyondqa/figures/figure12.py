"""Paper 1, figure 12: the judge (Prometheus) across benchmarks."""

from __future__ import annotations

from ._benchmarks import benchmarks_figure

FIGURE = benchmarks_figure(12, "judge", "Prometheus", families=("judge",))
