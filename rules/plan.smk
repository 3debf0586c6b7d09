"""What the study will cost, before anything is submitted."""


# No outputs, so that each call looks at what is there: items, tokenizers, finished jobs.
rule plan:
    log:
        RESULTS + "/logs/plan.log",
    conda:
        "../envs/analysis.yaml"
    params:
        config=config,
        csv=RESULTS + "/plan.csv",
        totals=RESULTS + "/plan_totals.csv",
        html=RESULTS + "/plan.html",
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    localrule: True
    script:
        "../workflow/scripts/plan.py"
