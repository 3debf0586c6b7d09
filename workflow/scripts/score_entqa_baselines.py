"""The metrics beside EntQA for one model's explanations, against the question that was put."""

import dataclasses

from beyondqa.logs import to_file
from beyondqa.metrics import entqa_baselines
from beyondqa.records import dumps, read_items, read_records, scores_frame, write_parquet

with to_file(snakemake.log[0]) as log:
    params = snakemake.params
    generations = (answer for path in snakemake.input.answers for answer in read_records(path))
    asked = [answer for answer in generations if answer.benchmark in params.benchmarks]
    items = read_items(snakemake.input.datasets)
    scores, signatures = entqa_baselines.scores(items, asked, params.settings, threads=snakemake.threads)
    described = {metric.name: dataclasses.asdict(metric) for metric in entqa_baselines.metrics(params.settings)}
    frame = scores_frame(scores)
    write_parquet(snakemake.output[0], frame, {"metrics": dumps(described), "signatures": dumps(signatures)})
    log.info("%d answers, %d scores", len(asked), len(frame))
