"""The figures: one named rule each, from the modules of beyondqa/figures, and one for the siblings of each.

Siblings show the same for other benchmarks, metrics or models. One job draws them all: starting Python for
each would take longer than drawing it.
"""

from beyondqa import figures as figure_registry

FIGURES = figure_registry.collection(STUDY)
STUDY_FIGURES = [figure for figure in FIGURES if is_in_study(figure)]
FIGURE_HELPERS = sorted(f"figures/{path.name}" for path in (Path(LIBRARY) / "figures").glob("_[a-z]*.py"))


def figure_outputs(figure):
    return {form: f"{RESULTS}/figures/{figure.slug}.{form}" for form in ("pdf", "png", "csv", "json")}


def figure_jobs():
    """Rule name -> the figures that its job draws."""
    jobs = {}
    for figure in FIGURES:
        if figure in STUDY_FIGURES or not figure.subject:
            jobs.setdefault(figure.rule, []).append(figure)
    return jobs


def joined_files(figures):
    """Named input files of several figures."""
    files = {}
    for figure in figures:
        for need, paths in analysis_files(figure).items():
            files[need] = sorted({*files.get(need, []), *paths})
    return files


def drawing_settings(figure):
    return {
        "module": figure.module,
        "subject": figure.subject,
        "subject_title": figure.subject_title,
        "models": analysis_models(figure),
        "benchmarks": analysis_benchmarks(figure),
    }


for name, drawn in figure_jobs().items():

    rule:
        name:
            name
        input:
            **joined_files(drawn),
            manifests=manifest_files([b for b in STUDY.benchmarks if any(b in covered(figure) for figure in drawn)]),
            resources=list(drawn[0].resources),
            library=library(
                "statistics/inputs.py",
                "statistics/labels.py",
                "figures/base.py",
                *FIGURE_HELPERS,
                f"figures/{drawn[0].module}.py",
            ),
        output:
            [path for figure in drawn for path in figure_outputs(figure).values()],
        log:
            f"{RESULTS}/logs/figures/{name}.log",
        benchmark:
            f"{RESULTS}/benchmarks/figures/{name}.tsv"
        conda:
            "../envs/analysis.yaml"
        params:
            figures=[drawing_settings(figure) for figure in drawn],
            folder=f"{RESULTS}/figures",
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
