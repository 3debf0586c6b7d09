"""Figures as PDF and PNG, each with the numbers that it draws and what the report needs."""

from beyondqa import figures
from beyondqa.figures.base import write
from beyondqa.logs import to_file
from beyondqa.statistics.inputs import Inputs

with to_file(snakemake.log[0]):
    params = snakemake.params
    for settings in params.figures:
        figure = figures.get(settings["module"], settings["subject"], settings["subject_title"])
        needs = (*figure.needs, "manifests", "resources")
        files = {need: [str(path) for path in snakemake.input.get(need, [])] for need in needs}
        inputs = Inputs(files, settings["models"], settings["benchmarks"], params.families, params.groups, params.seed)
        write(figure, figure.draw(inputs), f"{params.folder}/{figure.slug}")
