"""The hashes of every file of the run, as the study's own record and as an RO-Crate."""

from beyondqa.logs import to_file
from beyondqa.records import write_json
from beyondqa.report.provenance import crate, provenance, score_index

with to_file(snakemake.log[0]):
    params = snakemake.params
    record = provenance(params.chain, score_index(params.scores), params.config, params.directories)
    write_json(snakemake.output.record, record)
    write_json(snakemake.output.crate, crate(record, params.root))
