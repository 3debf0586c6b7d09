"""Examine the data sets for duplicates and faults of items."""

import pandas as pd
from snakemake.script import snakemake

from beyondqa.data_quality.head_qa import NAME, read_head_qa
from beyondqa.data_quality.report import examine, page
from beyondqa.logs import to_file
from beyondqa.records import atomic, read_items, write_csv

with to_file(snakemake.log[0]) as log:
    items = list(read_items(snakemake.input["items"]).values())
    for path in snakemake.input.head_qa:
        items += read_head_qa(path)
    quality = examine(items, {**snakemake.params.languages, NAME: "en"})
    for name in ("summary", "overlaps", "pairs", "findings", "gold_positions"):
        write_csv(snakemake.output[name], pd.DataFrame(getattr(quality, name)))
    with atomic(snakemake.output.page) as file:
        file.write(page(quality))
    log.info("%d items, %d pairs, %d findings", len(items), len(quality.pairs), len(quality.findings))
