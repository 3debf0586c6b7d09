"""Dispersion of every metric over repeated answers to the benchmarks of one pack."""

from beyondqa.logs import to_file
from beyondqa.records import write_parquet
from beyondqa.statistics.dispersion import dispersion
from beyondqa.statistics.scores import metrics_metadata, read_with_metrics

with to_file(snakemake.log[0]):
    scores, metrics = read_with_metrics(snakemake.input.scores)
    frame = dispersion(scores, metrics, rephraser=snakemake.params.rephraser)
    write_parquet(snakemake.output[0], frame, metrics_metadata(metrics))
