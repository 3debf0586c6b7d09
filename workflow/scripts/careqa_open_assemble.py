"""The rebuilt CareQA-Open in the released set's columns, and the counts after every step."""

import pandas as pd

from beyondqa.careqa_open.construction import rebuilt_rows
from beyondqa.careqa_open.decisions import STEPS, counts, read_decisions
from beyondqa.logs import to_file
from beyondqa.records import read_items, write_csv, write_jsonl

with to_file(snakemake.log[0]) as log:
    steps = {step: read_decisions(snakemake.input[step]) for step in STEPS}
    rows = rebuilt_rows(read_items([snakemake.input.careqa]), steps["validation"])
    log.info("%d questions in the rebuilt set", len(rows))
    write_csv(snakemake.output.counts, pd.DataFrame(counts(steps)))
    write_jsonl(snakemake.output.rebuilt, rows)
