"""Scoring: one job a (metric family, stage, model, pack)."""


def scored_items(wildcards):
    return dataset_files(STUDY.scored_benchmarks(wildcards.family, wildcards.stage, wildcards.model, wildcards.pack))


def scored_answers(wildcards):
    """The answers, and what was asked about them: judgements, or the completions before log-likelihoods."""
    stage, model, pack = wildcards.stage, wildcards.model, wildcards.pack
    if stage in STUDY.helper_stages:
        files = helper_files(stage, pack)
    else:
        about = stage_registry.get(stage).ANSWERS
        files = inference_files(stage, model, pack) + (inference_files(about, model, pack) if about else [])
    judgements = STUDY.metric_input(wildcards.family) == "judgements"
    return files + (helper_files(STUDY.judging_stage(stage), pack) if judgements else [])


rule score:
    input:
        datasets=scored_items,
        answers=scored_answers,
        library=lambda w: library("scoring.py", "encoders.py", "metrics/base.py", "metrics/_groups.py", "metrics/_lcs.py", *STUDY.metric_files(w.family)),
    output:
        RESULTS + "/scores/{family}/{stage}/{model}/{pack}.parquet",
    log:
        RESULTS + "/logs/scores/{family}/{stage}/{model}/{pack}.log",
    benchmark:
        RESULTS + "/benchmarks/scores/{family}/{stage}/{model}/{pack}.tsv"
    wildcard_constraints:
        family=one_of([family for family in STUDY.families if family not in ("entqa", "entqa_baselines")]),
    conda:
        lambda w: f"../envs/{STUDY.metric_environment(w.family)}.yaml"
    params:
        modules=lambda w: STUDY.metric_modules(w.family),
        benchmarks=lambda w: STUDY.scored_benchmarks(w.family, w.stage, w.model, w.pack),
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=lambda w, attempt: 60 * attempt,
    script:
        "../workflow/scripts/score.py"
