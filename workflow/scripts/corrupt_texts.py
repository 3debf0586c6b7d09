"""Edit the references of the open benchmarks, and the answers recorded elsewhere, one edit a text."""

from beyondqa.logs import to_file
from beyondqa.records import read_items, read_records, write_csv
from beyondqa.sensitivity.edits import applicability, edits_of, write_edits

with to_file(snakemake.log[0]) as log:
    items = list(read_items(snakemake.input.datasets).values())
    answers = [answer for path in snakemake.input.answers for answer in read_records(path)]
    edits = []
    for benchmark, path in zip(snakemake.params.benchmarks, snakemake.output.edits, strict=True):
        own = edits_of([item for item in items if item.benchmark == benchmark], answers)
        write_edits(path, own)
        log.info("%s: %d texts with their edits", benchmark, len(own))
        edits += own
    write_csv(snakemake.output.applicability, applicability(edits))
