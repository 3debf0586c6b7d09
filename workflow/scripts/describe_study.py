"""Write what the study asks and measures."""

from beyondqa.logs import to_file
from beyondqa.records import write_json

with to_file(snakemake.log[0]):
    write_json(snakemake.output[0], snakemake.params.rows)
