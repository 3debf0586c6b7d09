"""A sample of records of one pack, for the drill-down in the report."""

from beyondqa.logs import to_file
from beyondqa.records import write_json
from beyondqa.report.records import sample

with to_file(snakemake.log[0]):
    read = snakemake.input
    found = sample(read.datasets, read.answers, read.scores, read.entities, seed=snakemake.params.seed)
    write_json(snakemake.output[0], found)
