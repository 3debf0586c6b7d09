"""Beyond-QA: measures how well automatic metrics evaluate healthcare language models."""

from snakemake.utils import min_version

min_version("9.27")

if "study" not in config:

    configfile: "config.yaml"


include: "rules/common.smk"
include: "rules/failures.smk"
include: "rules/slurm.smk"
include: "rules/plan.smk"
include: "rules/datasets.smk"
include: "rules/models.smk"
include: "rules/inference.smk"
include: "rules/parity.smk"
include: "rules/metrics.smk"
include: "rules/statistics.smk"
include: "rules/careqa_open.smk"
include: "rules/human_evaluation.smk"
include: "rules/data_quality.smk"
include: "rules/overview.smk"
include: "rules/entqa.smk"
include: "rules/sensitivity.smk"
include: "rules/metric_human.smk"
include: "rules/chat_template.smk"
include: "rules/relaxed_grid.smk"
include: "rules/tables.smk"
include: "rules/figures.smk"
include: "rules/report.smk"
include: "rules/provenance.smk"
include: "rules/release.smk"


rule all:
    input:
        rules.report.output,
        rules.provenance.output,
        rules.tables.input,
        rules.figures.input,
    default_target: True
