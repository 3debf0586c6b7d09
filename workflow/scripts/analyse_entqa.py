"""EntQA's statistics over the models of one pack: by model, by case, by model size."""

from beyondqa.entqa import analyses
from beyondqa.logs import to_file
from beyondqa.records import write_csv
from beyondqa.statistics.scores import read_with_metrics

with to_file(snakemake.log[0]) as log:
    params, output = snakemake.params, snakemake.output
    scores, metrics = read_with_metrics(snakemake.input.scores)
    cases = analyses.case_frame(scores, params.parameters)
    log.info("%d answers of %d models", len(cases), cases["model"].nunique())
    write_csv(output.answers, analyses.answers(scores))
    write_csv(output.group_level, analyses.described(analyses.group_level(cases), metrics))
    write_csv(output.case_level, analyses.described(analyses.case_level(cases, seed=params.seed), metrics))
    write_csv(output.scale, analyses.described(analyses.scale(cases, seed=params.seed), metrics))
    write_csv(output.size_groups, analyses.described(analyses.size_groups(cases, seed=params.seed), metrics))
