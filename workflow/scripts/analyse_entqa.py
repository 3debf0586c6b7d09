"""EntQA's statistics over the models of one pack: by model, by case, by model size."""

from beyondqa.entqa import analyses
from beyondqa.logs import to_file
from beyondqa.records import write_csv
from beyondqa.statistics.scores import read_with_metrics

with to_file(snakemake.log[0]) as log:
    params, output = snakemake.params, snakemake.output
    scores, _ = read_with_metrics(snakemake.input.scores)
    cases = analyses.case_frame(scores, params.parameters)
    log.info("%d answers of %d models", len(cases), cases["model"].nunique())
    write_csv(output.group_level, analyses.group_level(cases))
    write_csv(output.case_level, analyses.case_level(cases, seed=params.seed))
    write_csv(output.scale, analyses.scale(cases, seed=params.seed))
    write_csv(output.size_groups, analyses.size_groups(cases, seed=params.seed))
