"""Paper 2, figure 1: the way from a case and an answer to EntQA's scores, with this study's own parts."""

from __future__ import annotations

from ..records import read_json
from ..statistics.inputs import Inputs
from ..tables._entqa import covers
from ._style import new
from .base import Drawing, Figure, explanation

TEXTS = ("Background", "Question", "Explanation")
BOX_WIDTH, BOX_HEIGHT, STEP_HEIGHT = 0.3, 0.66, 1.0
CENTRES = (0.165, 0.5, 0.835)
PALE, TINTED = "0.95", "#eaf2fa"


def draw(inputs: Inputs) -> Drawing:
    """A box a step, from the three texts down to the two recalls."""
    import pandas as pd

    parts = [read_json(path) for path in inputs.files.get("entqa_signature", ())]
    if not parts:
        return explanation("No EntQA score is in the study.")
    extractor, embedder = (parts[0][part]["name"] for part in ("extractor", "embedder"))
    steps = [
        ("entities", f"Entities of each text: {extractor}"),
        ("normalisation", "Normalised, filtered, each once"),
        ("matching", f"Compared with the explanation's: shared words, and cosine by {embedder}"),
    ]
    picture, (axes,) = new(0.62 * (len(steps) + 2))
    axes.set_axis_off()
    axes.set_xlim(0, 1)
    axes.set_ylim(-STEP_HEIGHT * (len(steps) + 1) - BOX_HEIGHT / 2 - 0.05, BOX_HEIGHT / 2 + 0.05)
    for centre, text in zip(CENTRES, TEXTS, strict=True):
        _box(axes, centre, 0.0, text, PALE)
        _arrow(axes, centre, 0)
    for number, (_, label) in enumerate(steps, start=1):
        _box(axes, CENTRES[1], -STEP_HEIGHT * number, label, TINTED, width=CENTRES[2] - CENTRES[0] + BOX_WIDTH)
        for centre in CENTRES if number < len(steps) else CENTRES[:2]:
            _arrow(axes, centre, number)
    last = -STEP_HEIGHT * (len(steps) + 1)
    _box(axes, CENTRES[0], last, "EntQA_b: share of the\nbackground's found again", PALE)
    _box(axes, CENTRES[1], last, "EntQA_q: share of the\nquestion's found again", PALE)
    return Drawing(picture, pd.DataFrame(steps, columns=["step", "by"]), ())


def _box(axes, x: float, y: float, text: str, colour: str, *, width: float = BOX_WIDTH) -> None:
    from matplotlib.patches import Rectangle

    corner = (x - width / 2, y - BOX_HEIGHT / 2)
    axes.add_patch(Rectangle(corner, width, BOX_HEIGHT, facecolor=colour, edgecolor="0.5", linewidth=0.8))
    axes.text(x, y, text, ha="center", va="center")


def _arrow(axes, x: float, number: int) -> None:
    """From the step of that number to the next."""
    top = -STEP_HEIGHT * number - BOX_HEIGHT / 2
    arrow = {"arrowstyle": "->", "color": "0.4", "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", xy=(x, top - STEP_HEIGHT + BOX_HEIGHT), xytext=(x, top), arrowprops=arrow)


FIGURE = Figure(
    name="entqa_pipeline",
    slug="entqa_pipeline",
    title="EntQA: from texts to scores",
    caption="Paper 2's figure 1, drawn with the extractor and the embedder that this study uses.",
    covers=covers,
    needs=("entqa_signature",),
    families=("entqa",),
    draw=draw,
)
