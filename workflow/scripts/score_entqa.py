"""EntQA scores of one model's answers, and the covered and missing entities of every record."""

import dataclasses

from beyondqa.entqa import scoring
from beyondqa.entqa.embedders import Embeddings
from beyondqa.entqa.mentions import Mentions
from beyondqa.logs import to_file
from beyondqa.metrics import entqa
from beyondqa.records import (
    dumps,
    read_items,
    read_json,
    read_jsonl,
    read_records,
    scores_frame,
    write_jsonl,
    write_parquet,
)

with to_file(snakemake.log[0]) as log:
    params = snakemake.params
    generations = (answer for path in snakemake.input.answers for answer in read_records(path))
    asked = [answer for answer in generations if answer.benchmark in params.benchmarks]
    records = scoring.read_records(read_items(snakemake.input.datasets), asked)
    scores, details = scoring.score(
        records,
        entqa.chosen_variants(params.settings),
        Mentions.of_records(read_jsonl(snakemake.input.mentions)),
        Embeddings.read(snakemake.input.embeddings),
        lambda kind, variant: entqa.metric_name(params.settings, kind, variant),
    )
    described = {metric.name: dataclasses.asdict(metric) for metric in entqa.metrics(params.settings)}
    signature = read_json(snakemake.input.signature)
    metadata = {"metrics": dumps(described), "signatures": dumps({"entqa": signature})}
    write_parquet(snakemake.output.scores, scores_frame(scores), metadata)
    write_jsonl(snakemake.output.details, details)
    log.info("%d answers, %d scores", len(records), len(scores))
