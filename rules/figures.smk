"""The figures: one named rule each, from the modules of beyondqa/figures."""

from beyondqa import figures as figure_registry

FIGURES = figure_registry.collection(STUDY)
STUDY_FIGURES = [figure for figure in FIGURES if is_in_study(figure)]


def figure_outputs(figure):
    return {form: f"{RESULTS}/figures/{figure.slug}.{form}" for form in ("pdf", "png", "csv", "json")}


for figure in FIGURES:

    rule:
        name:
            figure.name
        input:
            **analysis_files(figure),
            manifests=manifest_files(covered(figure)),
            resources=list(figure.resources),
            library=library(
                "statistics/inputs.py",
                "figures/base.py",
                "figures/_style.py",
                "figures/_correlations.py",
                "figures/_dispersion.py",
                f"figures/{figure.module}.py",
            ),
        output:
            **figure_outputs(figure),
        log:
            f"{RESULTS}/logs/figures/{figure.slug}.log",
        benchmark:
            f"{RESULTS}/benchmarks/figures/{figure.slug}.tsv"
        conda:
            "../envs/analysis.yaml"
        params:
            module=figure.module,
            subject=figure.subject,
            subject_title=figure.subject_title,
            models=analysis_models(figure),
            benchmarks=analysis_benchmarks(figure),
            families=list(STUDY.families),
            groups=analysis_groups(),
            seed=config["study"]["seed"],
        threads: 1
        resources:
            mem_mb=2000,
            runtime=10,
        script:
            "../workflow/scripts/make_figure.py"


rule figures:
    input:
        [path for figure in STUDY_FIGURES for path in figure_outputs(figure).values()],
