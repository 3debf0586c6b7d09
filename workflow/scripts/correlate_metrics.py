"""Metric by metric correlations over models, for each benchmark of one pack."""

# ruff: noqa: F821 (Snakemake puts the object `snakemake` before a script)

from beyondqa.logs import to_file
from beyondqa.records import write_csv
from beyondqa.statistics.matrices import metric_matrix
from beyondqa.statistics.scores import item_groups, read_with_metrics

with to_file(snakemake.log[0]):
    scores, metrics = read_with_metrics(snakemake.input.scores)
    groups = item_groups(snakemake.input.datasets, snakemake.params.macro_over)
    write_csv(snakemake.output[0], metric_matrix(scores, metrics, groups, seed=snakemake.params.seed))
