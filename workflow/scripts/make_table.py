"""One table as CSV, Markdown and LaTeX, with what the report needs."""

from beyondqa import tables
from beyondqa.logs import to_file
from beyondqa.statistics.inputs import Inputs
from beyondqa.tables.base import write

with to_file(snakemake.log[0]):
    params = snakemake.params
    table = tables.get(params.module)
    needs = (*table.needs, "manifests", "resources")
    files = {need: [str(path) for path in snakemake.input.get(need, [])] for need in needs}
    inputs = Inputs(files, params.models, params.benchmarks, params.families, params.groups, params.seed)
    write(table, table.build(inputs), str(snakemake.output.csv).removesuffix(".csv"))
