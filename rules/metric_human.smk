"""Metrics against other people's manual scores of recorded answers, for a config with `metric_human`."""

METRIC_HUMAN = RESULTS + "/statistics/metric_human"
NEEDS["metric_human"] = lambda families, packs: (
    [f"{METRIC_HUMAN}/{family}.csv" for family in PAIR_FAMILIES] if "metric_human" in config else []
)


# A rule whose environment depends on a wildcard must be in the plan, or Snakemake refuses to containerise.
if "metric_human" in config:

    rule compare_with_humans:
        input:
            answers=lambda w: config["metric_human"]["answers"],
            manual=lambda w: config["metric_human"]["manual"],
            library=lambda w: library("metric_human.py", "scoring.py", "encoders.py", "metrics/length.py", *STUDY.metric_files(w.family)),
        output:
            METRIC_HUMAN + "/{family}.csv",
        log:
            RESULTS + "/logs/statistics/metric_human/{family}.log",
        benchmark:
            RESULTS + "/benchmarks/statistics/metric_human/{family}.tsv"
        conda:
            lambda w: f"../envs/{STUDY.metric_environment(w.family)}.yaml"
        params:
            modules=lambda w: pair_modules(w.family),
            seed=config["study"]["seed"],
        threads: 1
        resources:
            mem_mb=lambda w, attempt: 4000 * attempt,
            runtime=60,
        script:
            "../workflow/scripts/compare_with_humans.py"
