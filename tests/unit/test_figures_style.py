"""Pictures at the size of print: no text below six points, no label over another, numbers inside their cells."""

import math

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from beyondqa.figures import _style as style

METRICS = [
    *("BLEU", "ROUGE-1", "ROUGE-2", "ROUGE-L", "METEOR", "BERTScore (all-minilm-l6-v2)‡", "MoverScore", "BLEURT"),
    *("Prometheus", "Word perplexity", "Byte perplexity", "Bits per byte", "Relaxed cross-entropy (must have)"),
    *("Relaxed cross-entropy (nice to have)", "Relaxed Perplexity (must have)", "Relaxed Perplexity (nice to have)"),
    *("F1-RadGraph", "Length (words)"),
]
MODELS = [f"BioMistral-MedMNX-{i}" for i in range(20)]
TASKS = ["Diagnosis and treatment recommendations", "Open-ended medical questions", "Clinical note-taking"]


def table(rows, columns, low=-1.0):
    values = np.random.default_rng(1).uniform(low, 1, size=(len(rows), len(columns)))
    return pd.DataFrame(values, rows, columns)


def heatmap(values):
    picture, axes = style.grid(values)
    style.heatmap(axes, values, values.abs() < 0.4, colour_bar_label="Pearson's r over models")
    return picture, axes


def ranks(values):
    picture, axes = style.grid(values)
    style.rank_grid(axes, (2 * values.rank()).round() / 2 + 10.5)
    return picture, axes


def shares(values):
    picture, axes = style.grid(values)
    style.share_grid(axes, values.abs(), "Share of draws in one cluster")
    return picture, axes


def drawn(picture):
    canvas = FigureCanvasAgg(picture)
    canvas.draw()
    return canvas.get_renderer()


def overlaps(texts, renderer):
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in texts if text.get_text()]
    return [(a, b) for i, (a, x) in enumerate(boxes) for b, y in boxes[i + 1 :] if x.overlaps(y)]


def unreadable(picture, axes):
    """What is too small, lies over something else or leaves the picture."""
    renderer = drawn(picture)
    texts = [text for text in picture.findobj(match=lambda artist: hasattr(artist, "get_fontsize")) if text.get_text()]
    below = axes.get_xticklabels()
    pitch = np.diff([text.get_window_extent(renderer).x1 for text in below])
    line = below[0].get_fontsize() * picture.dpi / 72
    edges = picture.bbox
    return {
        "small": [t.get_text() for t in texts if t.get_visible() and t.get_fontsize() < style.SMALLEST],
        "cells": overlaps(axes.texts, renderer),
        "beside": overlaps(axes.get_yticklabels(), renderer),
        "below": [p for p in pitch if p * math.sin(math.radians(below[0].get_rotation())) < line],
        "outside": [
            t.get_text()
            for t in [*axes.texts, *below, *axes.get_yticklabels()]
            if not (
                edges.x0 - 1 <= t.get_window_extent(renderer).x0 and t.get_window_extent(renderer).x1 <= edges.x1 + 1
            )
        ],
    }


@pytest.mark.parametrize(
    ("draw", "rows", "columns"),
    [
        (heatmap, METRICS, METRICS),
        (heatmap, METRICS[:9], METRICS[:9]),
        (heatmap, METRICS[:2], METRICS[:2]),
        (heatmap, TASKS, METRICS),
        (ranks, MODELS, METRICS),
        (ranks, MODELS, METRICS[:5]),
        (shares, METRICS, METRICS),
        (heatmap, METRICS * 2, METRICS * 2),
    ],
)
def test_grids_can_be_read_at_the_size_of_print(draw, rows, columns):
    picture, axes = draw(table(rows, columns))
    assert unreadable(picture, axes) == {"small": [], "cells": [], "beside": [], "below": [], "outside": []}


def test_the_judge_sees_labels_that_are_too_near():
    values = table(METRICS, METRICS)
    picture, (axes,) = style.new(2.0, width=2.0)
    style.heatmap(axes, values, values.isna(), colour_bar_label="r")
    found = unreadable(picture, axes)
    assert found["cells"]
    assert found["beside"]
    assert found["below"]


def test_few_columns_fit_one_column_of_a_paper_and_many_the_page():
    widths = [heatmap(table(METRICS[:n], METRICS[:n]))[0].get_figwidth() for n in (5, 18)]
    assert widths == [style.COLUMN, style.WIDTH]


def luminance(colour):
    """Relative luminance of an RGB colour (WCAG 2.1)."""
    channels = np.asarray(colour[:3], float)
    linear = np.where(channels <= 0.03928, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(a, b):
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("draw", [heatmap, ranks, shares])
def test_numbers_stand_out_from_their_cells(draw):
    from matplotlib.colors import to_rgb

    steps = pd.DataFrame(
        np.linspace(-1, 1, 400).reshape(20, 20), [str(i) for i in range(20)], list("abcdefghijklmnopqrst")
    )
    _, axes = draw(steps)
    painted = axes.images[0].get_array()
    ratios = {
        text.get_text(): contrast(
            to_rgb(text.get_color()), painted[round(text.get_position()[1]), round(text.get_position()[0])]
        )
        for text in axes.texts
    }
    # 4.5 is what WCAG asks of small text; cells that stand back may have less.
    low = min(ratios[t] for t in ratios if draw is not heatmap or abs(float(t.replace("−", "-"))) >= 0.41)
    assert low >= 4.5
    assert min(ratios.values()) > 3


def test_a_value_at_the_end_of_its_interval_has_a_bar_of_no_length():
    """Wilson's upper end of 44 of 44 is 1 less 1e-16."""
    below, above = style.beside(pd.Series([1.0]), pd.Series([0.92]), pd.Series([1.0 - 1.2e-16]))
    assert below.tolist() == pytest.approx([0.08])
    assert above.tolist() == [0.0]
