"""Multiple choice benchmarks and Chatbot Arena ratings of one group of models."""

from __future__ import annotations

from ..statistics.against import accuracy_rows
from ..statistics.correlation import correlation_matrix
from ..statistics.elo import ELO
from ..statistics.inputs import Inputs
from ._correlations import matrix_drawing
from .base import Drawing, Figure, explanation


def elo_figure(number: int, group: str, sizes: str) -> Figure:
    """The figure of one group of models, as the config names it."""
    return Figure(
        name=f"figure{number:02}",
        slug=f"fig{number:02}_elo_{sizes}_models",
        title=f"Figure {number}: multiple choice benchmarks and Elo, {sizes} models",
        caption=(
            "Pearson's r between the models' accuracies on the multiple choice benchmarks and their Chatbot Arena "
            "ratings of 2024-10-15. Models without a rating are left out of the Elo cells alone."
        ),
        covers=lambda benchmark: benchmark.task == "multiple_choice",
        families=("likelihood", "choices"),
        resources=(ELO,),
        draw=lambda inputs: draw(inputs, group),
    )


def draw(inputs: Inputs, group: str) -> Drawing:
    """Accuracies and Elo of the group's models."""
    models = [model for model in inputs.groups.get(group, ()) if model in inputs.models]
    means = inputs.means
    if not models:
        return explanation(f"The study has no group of models called {group}.")
    if not len(means):
        return explanation("No multiple choice benchmark was scored.")
    accuracy = means[accuracy_rows(means) & means["model"].isin(models)]
    values = accuracy.pivot(index="model", columns="benchmark", values="mean")
    values = values[[name for name in inputs.benchmarks if name in values.columns]]
    ratings = inputs.elo
    values["elo"] = ratings.reindex(values.index)
    unrated = [inputs.label(model) for model in values.index if model not in ratings.index]
    notes = [f"Without a rating: {', '.join(unrated)}."] * bool(unrated)
    labels = {name: inputs.benchmarks[name]["title"] for name in values.columns if name != "elo"} | {"elo": "Elo"}
    pairs = correlation_matrix(values)
    used = list(values.index)
    return matrix_drawing(
        pairs, labels, notes=[*notes, *inputs.model_notes(used), *inputs.benchmark_notes(list(values.columns))]
    )
