"""Read a model's answers, or the log-likelihoods of its options, from files of predictions."""

from functools import partial

from beyondqa.engines import recorded
from beyondqa.logs import to_file
from beyondqa.records import read_items, write_records

READ = {
    "greedy": partial(recorded.answers, variant="greedy"),
    "samples": partial(recorded.answers, variant="sample"),
    "likelihoods": recorded.likelihoods,
}

with to_file(snakemake.log[0]):
    wildcards = snakemake.wildcards
    items = list(read_items(snakemake.input.datasets).values())
    answers = [
        answer
        for benchmark in dict.fromkeys(item.benchmark for item in items)
        for answer in READ[wildcards.stage](
            snakemake.params.entry, [item for item in items if item.benchmark == benchmark], benchmark
        )
    ]
    write_records(snakemake.output[0], answers[int(wildcards.shard) - 1 :: int(wildcards.shards)])
