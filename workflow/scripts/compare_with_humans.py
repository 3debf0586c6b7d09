"""Correlate metrics with the manual scores of MTS-Dialog's correlation study."""

from beyondqa.logs import to_file
from beyondqa.metric_human import metric_human, read_mts_dialog
from beyondqa.records import write_csv

with to_file(snakemake.log[0]) as log:
    study = read_mts_dialog(snakemake.input.answers, snakemake.input.manual)
    log.info("%d answers to %d items", len(study.pairs), study.shape[0])
    table = metric_human(study, snakemake.params.modules, seed=snakemake.params.seed, threads=snakemake.threads)
    write_csv(snakemake.output[0], table)
