"""EntQA over a grid of thresholds, which the paper leaves open: the group-level correlation as a heat map."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from ..entqa.variants import AS_CODED
from ..metrics.entqa import LABELS
from ..statistics.inputs import Inputs
from ._style import COLUMN, WIDTH, heatmap, new
from .base import Drawing, Figure, explanation

if TYPE_CHECKING:
    from ..benchmarks.base import Benchmark
    from ..study import Study

MAIN, MAIN_TITLE = "entqa_medqa", "MedQA"
SIGNIFICANT = 0.05


def draw(benchmark: str, inputs: Inputs) -> Drawing:
    """Spearman's rho of accuracy and mean recall; the paper's thresholds are framed."""
    import pandas as pd
    from matplotlib.patches import Rectangle

    from ..records import read_csv

    frames = [read_csv(path) for path in inputs.files.get("entqa_thresholds", ())]
    data = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    data = data[data["benchmark"] == benchmark].reset_index(drop=True) if len(data) else data
    if not len(data) or data["spearman"].isna().all():
        reasons = "; ".join(sorted({r for r in data["reason"] if isinstance(r, str)})) if len(data) else ""
        return explanation(f"No correlation over thresholds can be drawn{': ' + reasons if reasons else ''}.")
    kinds = list(dict.fromkeys(data["kind"]))
    passing = "above" if data["strict_overlap"].iloc[0] else "of at least"
    picture, axes = new(2.8, len(kinds), width=WIDTH if len(kinds) > 1 else COLUMN)
    for panel, kind in zip(axes, kinds, strict=True):
        part = data[data["kind"] == kind]
        grid = part.pivot(index="overlap", columns="cosine", values="spearman").sort_index(ascending=False)
        p = part.pivot(index="overlap", columns="cosine", values="p_spearman").reindex_like(grid).astype(float)
        rows, columns = list(grid.index), list(grid.columns)
        heatmap(panel, grid.astype(float), ~(p < SIGNIFICANT), colour_bar_label="Spearman's ρ")
        corner = (columns.index(AS_CODED.cosine) - 0.5, rows.index(AS_CODED.overlap) - 0.5)
        panel.add_patch(Rectangle(corner, 1, 1, fill=False, edgecolor="black", linewidth=1.5))
        panel.set_title(LABELS[kind])
        panel.set_xlabel("cosine above")
        panel.set_ylabel(f"word overlap {passing}")
    notes = (
        f"Over {data['n'].max()} models; the reading is {data['variant'].iloc[0]}. Cells whose exact p is not below "
        f"{SIGNIFICANT} stand back; the paper's thresholds are framed. Blank: undefined, for the mean recall is the "
        "same for every model.",
        *inputs.benchmark_notes([benchmark]),
        *inputs.model_notes(list(inputs.models)),
    )
    return Drawing(picture, data, notes)


def _figure(name: str, benchmark: str, title: str, **about: str) -> Figure:
    return Figure(
        name=name,
        slug=f"entqa_thresholds_{benchmark.removeprefix('entqa_')}",
        title=f"EntQA: thresholds, {title}",
        caption=f"Correlation over models of accuracy and mean EntQA on {title}, by the two thresholds of a match.",
        covers=functools.partial(_is, benchmark),
        needs=("entqa_thresholds",),
        families=("entqa",),
        draw=functools.partial(draw, benchmark),
        **about,
    )


def _is(name: str, benchmark: Benchmark) -> bool:
    return benchmark.name == name


FIGURE = _figure("entqa_thresholds", MAIN, MAIN_TITLE)


def subjects(study: Study) -> dict[str, str]:
    """The other benchmarks of EntQA."""
    return {name: b.title for name, b in study.benchmarks.items() if b.task == "entqa" and name != MAIN}


def sibling(subject: str, title: str) -> Figure:
    """The figure of one benchmark."""
    return _figure(f"entqa_thresholds_{subject}", subject, title, subject=subject, subject_title=title)
