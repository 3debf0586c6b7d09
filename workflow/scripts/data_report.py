"""Examine the data sets for duplicates and faults of items."""

from beyondqa.data_quality.head_qa import NAME, read_head_qa
from beyondqa.data_quality.report import examine, frames, page
from beyondqa.logs import to_file
from beyondqa.records import atomic, read_items, write_csv

with to_file(snakemake.log[0]) as log:
    items = list(read_items(snakemake.input.datasets).values())
    languages = dict(snakemake.params.languages)
    if snakemake.input.head_qa:
        items += read_head_qa(snakemake.params.originals)
        languages[NAME] = "en"
    quality = examine(items, languages)
    log.info("%d items, %d pairs, %d findings", len(items), len(quality.pairs), len(quality.findings))
    for name, frame in frames(quality).items():
        write_csv(snakemake.output[name], frame)
    with atomic(snakemake.output.page) as file:
        file.write(page(quality))
