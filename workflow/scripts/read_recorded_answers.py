"""Read a model's answers from files of predictions."""

from snakemake.script import snakemake

from beyondqa.engines import recorded
from beyondqa.logs import to_file
from beyondqa.records import read_items, write_records

VARIANTS = {"greedy": "greedy", "samples": "sample"}

with to_file(snakemake.log[0]):
    items = list(read_items(snakemake.input["items"]).values())
    wildcards = snakemake.wildcards
    write_records(snakemake.output[0], recorded.shard(snakemake.params.entry, items, VARIANTS[wildcards.stage], int(wildcards.shard), int(wildcards.shards)))
