"""Write the items of one benchmark and the manifest that explains them."""

from beyondqa.loading import load
from beyondqa.logs import to_file
from beyondqa.records import write_json, write_records

with to_file(snakemake.log[0]) as log:
    loaded = load(snakemake.wildcards.benchmark, prompt=snakemake.input.prompt, **snakemake.params.settings)
    log.info("%d items", len(loaded.items))
    write_records(snakemake.output.dataset, loaded.items)
    write_json(snakemake.output.manifest, loaded.manifest)
