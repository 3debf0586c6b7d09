"""Score answers given without and with the chat template with one family of metrics, and compare them."""

from beyondqa import metrics
from beyondqa.logs import to_file
from beyondqa.records import read_items, read_records, write_csv
from beyondqa.scoring import score_records
from beyondqa.statistics.chat_template import SIDES, compared
from beyondqa.statistics.scores import item_groups

# The reference alone is asked without any prompt, so that no template can change it.
UNPROMPTED = ("reference",)

with to_file(snakemake.log[0]) as log:
    params = snakemake.params
    items = read_items(snakemake.input.datasets)
    frames = {}
    for side in SIDES:
        records = [
            record
            for path in snakemake.input[side]
            for record in read_records(path)
            if record.benchmark in params.benchmarks and record.variant not in UNPROMPTED
        ]
        frames[side], _ = score_records(items, records, params.modules, threads=snakemake.threads)
        log.info("%s: %d records, %d scores", side, len(records), len(frames[side]))
    groups = item_groups(snakemake.input.datasets, params.macro_over)
    described = metrics.describe(params.modules)
    write_csv(snakemake.output[0], compared(frames["off"], frames["on"], described, groups, seed=params.seed))
