"""How often models give a harmless edit of a reference a higher probability than another edit."""

from beyondqa.logs import to_file
from beyondqa.records import read_items, read_records, write_csv
from beyondqa.sensitivity.edits import read_edits
from beyondqa.sensitivity.targets import target_items, target_preferences

with to_file(snakemake.log[0]):
    source, params = snakemake.input, snakemake.params
    targets = target_items(read_edits(source.edits), read_items(source.datasets), params.most)
    answers = [answer for path in source.answers for answer in read_records(path)]
    completions = [completion for path in source.completions for completion in read_records(path)]
    write_csv(snakemake.output[0], target_preferences(targets, answers, completions, params.modules, seed=params.seed))
