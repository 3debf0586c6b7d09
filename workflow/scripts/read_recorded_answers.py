"""Read a model's answers from files of predictions."""

from beyondqa.engines import recorded
from beyondqa.logs import to_file
from beyondqa.records import read_items, write_records

VARIANTS = {"greedy": "greedy", "samples": "sample"}

with to_file(snakemake.log[0]):
    wildcards = snakemake.wildcards
    items = list(read_items(snakemake.input.datasets).values())
    answers = [
        answer
        for benchmark in dict.fromkeys(item.benchmark for item in items)
        for answer in recorded.answers(
            snakemake.params.entry,
            [item for item in items if item.benchmark == benchmark],
            benchmark,
            variant=VARIANTS[wildcards.stage],
        )
    ]
    write_records(snakemake.output[0], answers[int(wildcards.shard) - 1 :: int(wildcards.shards)])
