"""Relaxed Perplexity with other numbers of samples, and of best ones among them: `snakemake relaxed_grid`."""

GRID_STAGES = ("relaxed_grid_completions", "relaxed_grid")


def grid_answers(pack):
    return [path for stage in GRID_STAGES for model in STUDY.models_of(pack) for path in inference_files(stage, model, pack)]


NEEDS["relaxed_grid"] = lambda families, packs: [
    f"{RESULTS}/statistics/relaxed_grid/{pack}.csv" for pack in packs if grid_answers(pack)
]


rule compare_relaxed_settings:
    input:
        datasets=lambda w: dataset_files(STUDY.stage_benchmarks(GRID_STAGES[0], w.pack)),
        answers=lambda w: grid_answers(w.pack),
        library=library(
            "relaxed_perplexity.py", "metrics/relaxed_perplexity.py", "statistics/aggregation.py", "statistics/relaxed_grid.py"
        ),
    output:
        RESULTS + "/statistics/relaxed_grid/{pack}.csv",
    log:
        RESULTS + "/logs/statistics/relaxed_grid/{pack}.log",
    benchmark:
        RESULTS + "/benchmarks/statistics/relaxed_grid/{pack}.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        settings=lambda w: STUDY.stage_settings(GRID_STAGES[0]),
        seed=config["study"]["seed"],
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=30,
    script:
        "../workflow/scripts/compare_relaxed_settings.py"
