"""Quality of the data sets: `snakemake data_report`."""

from beyondqa.data_quality import head_qa


rule data_report:
    input:
        datasets=dataset_files(STUDY.benchmarks),
        # Measured where it is at hand: `fetch` brings it.
        head_qa=lambda w: existing_files(head_qa.SOURCE, hub_mirror=config["hub_mirror"], originals=config["originals"]),
        library=library("data_quality", "normalisation.py"),
    output:
        page=RESULTS + "/data_quality/report.md",
        summary=RESULTS + "/data_quality/summary.csv",
        overlaps=RESULTS + "/data_quality/overlaps.csv",
        pairs=RESULTS + "/data_quality/pairs.csv",
        findings=RESULTS + "/data_quality/findings.csv",
        gold_positions=RESULTS + "/data_quality/gold_positions.csv",
    log:
        RESULTS + "/logs/data_quality.log",
    benchmark:
        RESULTS + "/benchmarks/data_quality.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        originals=config["originals"],
        languages={name: benchmark.language for name, benchmark in STUDY.benchmarks.items()},
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=15,
    script:
        "../workflow/scripts/data_report.py"
