"""How often one family's metrics prefer a harmless edit to another one."""

from beyondqa.logs import to_file
from beyondqa.records import read_json, write_csv
from beyondqa.sensitivity.preferences import corruption_preferences

with to_file(snakemake.log[0]):
    found = read_json(snakemake.input.texts)
    modules, seed = snakemake.params.modules, snakemake.params.seed
    write_csv(snakemake.output[0], corruption_preferences(found["texts"], found["edits"], modules, seed=seed))
