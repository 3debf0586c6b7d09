"""Relaxed Perplexity of some items with several numbers of samples and of best ones."""

from beyondqa.logs import to_file
from beyondqa.records import read_items, read_records, write_csv
from beyondqa.statistics.relaxed_grid import compared

with to_file(snakemake.log[0]) as log:
    items = read_items(snakemake.input.datasets)
    records = [record for path in snakemake.input.answers for record in read_records(path)]
    log.info("%d records", len(records))
    write_csv(snakemake.output[0], compared(items, records, snakemake.params.settings, seed=snakemake.params.seed))
