"""Score one model's answers of one stage, or its log-likelihoods, with one family of metrics."""

import dataclasses

from beyondqa import metrics
from beyondqa.errors import StudyError
from beyondqa.logs import to_file
from beyondqa.records import dumps, read_items, read_records, write_parquet
from beyondqa.scoring import score_records

with to_file(snakemake.log[0]) as log:
    wildcards, modules = snakemake.wildcards, snakemake.params.modules
    items = read_items(snakemake.input.datasets)
    records = [
        record
        for path in snakemake.input.answers
        for record in read_records(path)
        if record.model == wildcards.model and record.benchmark in snakemake.params.benchmarks
    ]
    # A rephraser is asked nothing about blank answers, so a model may have no rephrasing.
    if not records and wildcards.stage != "rephrased":
        raise StudyError(f"no answer of {wildcards.model}", file=", ".join(snakemake.input.answers))
    log.info("%d records, metrics %s", len(records), ", ".join(modules))
    frame, signatures = score_records(items, records, modules, threads=snakemake.threads)
    described = {name: dataclasses.asdict(metric) for name, metric in metrics.describe(modules).items()}
    write_parquet(snakemake.output[0], frame, {"metrics": dumps(described), "signatures": dumps(signatures)})
    log.info("%d scores", len(frame))
