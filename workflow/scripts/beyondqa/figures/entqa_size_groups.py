"""Paper 2's plots of the metrics by group of model sizes."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ..entqa import published
from ..entqa.analyses import SIZE_GROUPS
from ..statistics.inputs import Inputs, stand_in_notes
from ..tables._entqa import label
from ._style import beside, new
from .base import Drawing, Figure, explanation

if TYPE_CHECKING:
    from ..benchmarks.base import Benchmark
    from ..study import Study

MAIN, MAIN_TITLE = "entqa_medqa", "MedQA"
MARKERS = "osD^v<>Ph*"
PANELS = {"EntQA and length": ("entqa_b", "entqa_q", "length"), "Other metrics": ()}


def draw(benchmark: str, inputs: Inputs) -> Drawing:
    """Scaled means with their intervals, EntQA and the length on the left, the other metrics on the right."""
    import pandas as pd

    from ..records import read_csv

    frames = [read_csv(path) for path in inputs.files.get("entqa_size_groups", ())]
    data = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    if len(data):
        shown = data["metric"].map(_is_shown) & (data["benchmark"] == benchmark) & data["scaled"].notna()
        data = data[shown].reset_index(drop=True)
    if not len(data):
        return explanation("No EntQA score of a model of known size is in the study for this benchmark.")
    picture, axes = new(3.2, 2)
    for panel, (title, prefixes) in zip(axes, PANELS.items(), strict=True):
        own = data["metric"].str.startswith(PANELS["EntQA and length"])
        _lines(panel, data[own if prefixes else ~own])
        panel.set_title(title)
        panel.set_xlabel("model size")
    axes[0].set_ylabel("scaled mean")
    stand_ins = {row["label"]: row["stand_in"] for row in data.to_dict("records") if isinstance(row["stand_in"], str)}
    notes = (
        "The groups' means of a metric are scaled by their own median and interquartile range, as in the paper: the "
        "height shows the order of the groups and no size of effect. Bars: 95 % bootstrap interval over cases.",
        *inputs.benchmark_notes([benchmark]),
        *inputs.model_notes(list(inputs.models)),
        *stand_in_notes(stand_ins),
    )
    return Drawing(picture, data, notes)


def _is_shown(metric: str) -> bool:
    return published.published_name(metric) is not None or metric.startswith("length[")


def _lines(axes, data) -> None:
    groups = data.groupby("metric", sort=False)
    shift = 0.5 / max(1, len(groups))
    for i, (_, rows) in enumerate(groups):
        first = rows.iloc[0]
        axes.errorbar(
            rows["order"] + (i - len(groups) / 2) * shift * 0.6,
            rows["scaled"],
            yerr=beside(rows["scaled"], rows["scaled_low"], rows["scaled_high"]),
            marker=MARKERS[i % len(MARKERS)],
            markersize=3.5,
            linewidth=1,
            elinewidth=0.6,
            label=label(first),
        )
    axes.set_xticks(range(len(SIZE_GROUPS)), list(SIZE_GROUPS.values()))
    axes.set_xlim(-0.5, len(SIZE_GROUPS) - 0.5)
    axes.axhline(0, color="0.5", linewidth=0.6)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2, frameon=False)


def _figure(name: str, benchmark: str, title: str, **about: str) -> Figure:
    return Figure(
        name=name,
        slug=f"entqa_size_groups_{benchmark.removeprefix('entqa_')}",
        title=f"EntQA: metrics by model size, {title}",
        caption=f"Means of the metrics on {title} in four groups of model sizes.",
        covers=functools.partial(_is, benchmark),
        needs=("entqa_size_groups",),
        families=("entqa", "entqa_baselines"),
        draw=functools.partial(draw, benchmark),
        **about,
    )


def _is(name: str, benchmark: Benchmark) -> bool:
    return benchmark.name == name


FIGURE = _figure("entqa_size_groups", MAIN, MAIN_TITLE)


def subjects(study: Study) -> dict[str, str]:
    """The other benchmarks of EntQA."""
    return {name: b.title for name, b in study.benchmarks.items() if b.task == "entqa" and name != MAIN}


def sibling(subject: str, title: str) -> Figure:
    """The figure of one benchmark."""
    return _figure(f"entqa_size_groups_{subject}", subject, title, subject=subject, subject_title=title)
