"""How often one family's metrics prefer a harmless edit to another one."""

from beyondqa.logs import to_file
from beyondqa.records import write_csv
from beyondqa.sensitivity.edits import read_edits
from beyondqa.sensitivity.preferences import corruption_preferences

with to_file(snakemake.log[0]):
    edits, params = read_edits(snakemake.input.edits), snakemake.params
    write_csv(snakemake.output[0], corruption_preferences(edits, params.modules, seed=params.seed))
