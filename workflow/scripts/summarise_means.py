"""Means of one metric family over the benchmarks of one pack, for every model."""

from beyondqa.logs import to_file
from beyondqa.records import write_csv
from beyondqa.statistics.aggregation import means
from beyondqa.statistics.scores import item_groups, read_with_metrics

with to_file(snakemake.log[0]):
    scores, metrics = read_with_metrics(snakemake.input.scores)
    groups = item_groups(snakemake.input.datasets, snakemake.params.macro_over)
    write_csv(snakemake.output[0], means(scores, metrics, groups, seed=snakemake.params.seed))
