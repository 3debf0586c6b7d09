"""Metric by metric correlations over models for each benchmark of one pack, and how far they hold."""

from beyondqa.logs import to_file
from beyondqa.records import write_csv
from beyondqa.statistics.matrices import analyse_metrics
from beyondqa.statistics.scores import item_groups, read_with_metrics

with to_file(snakemake.log[0]):
    params = snakemake.params
    scores, metrics = read_with_metrics(snakemake.input.scores)
    groups = item_groups(snakemake.input.datasets, params.macro_over)
    found = analyse_metrics(scores, metrics, groups, params.families, seed=params.seed)
    for name in ("pairs", "stability", "families", "clusters"):
        write_csv(snakemake.output[name], getattr(found, name))
