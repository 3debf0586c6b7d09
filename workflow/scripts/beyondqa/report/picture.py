"""The workflow as a picture: layers of boxes and the arrows between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

BOX_WIDTH, BOX_HEIGHT = 146, 40
GAP_X, GAP_Y = 52, 14
MARGIN = 10


def workflow_picture(layers: Sequence[Mapping[str, Any]], arrows: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Coordinates of the boxes and arrows, in pixels, for the template to draw.

    `layers`: from left to right, {title, boxes: [{id, label, detail}]}; `arrows`: (id, id) pairs from one
    layer to a later one. Arrows that name a box that is not there are left out.
    """
    tallest = max(len(layer["boxes"]) for layer in layers)
    top = MARGIN + 18
    height = tallest * (BOX_HEIGHT + GAP_Y) - GAP_Y
    boxes, at = [], {}
    for column, layer in enumerate(layers):
        x = MARGIN + column * (BOX_WIDTH + GAP_X)
        used = len(layer["boxes"]) * (BOX_HEIGHT + GAP_Y) - GAP_Y
        for row, box in enumerate(layer["boxes"]):
            y = top + (height - used) / 2 + row * (BOX_HEIGHT + GAP_Y)
            at[box["id"]] = (x, y)
            boxes.append({**box, "x": x, "y": round(y, 1)})
    return {
        "width": 2 * MARGIN + len(layers) * (BOX_WIDTH + GAP_X) - GAP_X,
        "height": round(top + height + MARGIN, 1),
        "box_width": BOX_WIDTH,
        "box_height": BOX_HEIGHT,
        "titles": [
            {"x": MARGIN + i * (BOX_WIDTH + GAP_X) + BOX_WIDTH / 2, "y": MARGIN + 6, "text": layer["title"]}
            for i, layer in enumerate(layers)
        ],
        "boxes": boxes,
        "arrows": [_curve(at[a], at[b]) for a, b in arrows if a in at and b in at],
    }


def _curve(start: tuple[float, float], end: tuple[float, float]) -> str:
    x1, y1 = start[0] + BOX_WIDTH, start[1] + BOX_HEIGHT / 2
    x2, y2 = end[0] - 5, end[1] + BOX_HEIGHT / 2
    bend = GAP_X * 0.5
    return f"M{x1:.0f} {y1:.1f}C{x1 + bend:.0f} {y1:.1f} {x2 - bend:.0f} {y2:.1f} {x2:.0f} {y2:.1f}"
