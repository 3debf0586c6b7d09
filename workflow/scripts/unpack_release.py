"""Data sets and answers of a release, put where the run looks for them."""

from beyondqa.logs import to_file
from beyondqa.report.release import unpack

with to_file(snakemake.log[0]) as log:
    unpack(snakemake.params.archive, list(snakemake.output), snakemake.params.root)
    log.info("%d files from %s", len(snakemake.output), snakemake.params.archive)
