"""How the recorded predictions of all models were joined to the items, for the report."""

from beyondqa.engines import recorded
from beyondqa.logs import to_file
from beyondqa.records import read_items, write_json

with to_file(snakemake.log[0]):
    by_benchmark = {}
    for item in read_items(snakemake.input.datasets).values():
        by_benchmark.setdefault(item.benchmark, []).append(item)
    joins = [
        recorded.summary(entry, by_benchmark[benchmark], benchmark)
        for entry in snakemake.params.entries
        for benchmark in entry["predictions"]
        if benchmark in by_benchmark
    ]
    write_json(snakemake.output[0], {"joins": joins, "unnamed": snakemake.params.unnamed})
