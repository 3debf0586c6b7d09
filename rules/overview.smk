"""What the study asks and measures, as table 1 shows it."""

from beyondqa.overview import overview

OVERVIEW = f"{RESULTS}/statistics/overview.json"
NEEDS["overview"] = lambda families, packs: [OVERVIEW]


rule describe_study:
    output:
        OVERVIEW,
    log:
        RESULTS + "/logs/statistics/overview.log",
    benchmark:
        RESULTS + "/benchmarks/statistics/overview.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        rows=overview(STUDY),
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    script:
        "../workflow/scripts/describe_study.py"
