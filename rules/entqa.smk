"""EntQA: entities once over all models of a pack, cheap scores per model, and the paper's statistics.

What is found and embedded is kept beside the journals, so that a further model costs only its own answers.
"""

ENTQA = STUDY.metric_modules("entqa").get("entqa") if "entqa" in STUDY.families else None
ENTQA_BASELINES = STUDY.metric_modules("entqa_baselines").get("entqa_baselines", {}) if "entqa_baselines" in STUDY.families else {}
ENTQA_FAMILIES = [family for family in ("entqa", "entqa_baselines") if family in STUDY.families]
ENTQA_STATISTICS = ["answers", "group_level", "case_level", "scale", "size_groups"]
ENTQA_TABLES = ["entqa_table1_models", "entqa_table2_cases", "entqa_table3_scale", "entqa_answers", "entqa_published_checks"]
ENTQA_MODULES = ["metrics/entqa.py", "extraction.py", "scoring.py"] + [
    f"entqa/{name}.py"
    for name in (
        "answers",
        "copying",
        "coverage",
        "embedders",
        "extractors",
        "matching",
        "mentions",
        "normalisation",
        "scoring",
        "splitting",
        "variants",
    )
]
ENTQA_JOURNAL = RESULTS + "/journals/entqa"


def entqa_benchmarks(pack):
    """Benchmarks of the pack that EntQA scores, for any of its models."""
    return [name for name in STUDY.packs[pack] if STUDY.benchmarks[name].task == "entqa"]


def entqa_models(pack):
    return [model for model in STUDY.models_of(pack) if STUDY.scored_benchmarks("entqa", "greedy", model, pack)]


def entqa_answers(wildcards):
    """Greedy answers of every model that is asked, or of the one that the wildcards name."""
    models = [wildcards.model] if "model" in wildcards.keys() else entqa_models(wildcards.pack)
    return [path for model in models for path in inference_files("greedy", model, wildcards.pack)]


def entqa_datasets(wildcards):
    return dataset_files(entqa_benchmarks(wildcards.pack))


def entqa_gpus():
    """A model of the Hub is too large for a CPU; dictionaries and embedded models are not."""
    return int(any("id" in ENTQA.get(key, {}) for key in ("extractor", "embedder")))


def entqa_packs(packs):
    return [pack for pack in packs if "entqa" in STUDY.families and entqa_models(pack)]


def entqa_statistic(name):
    return lambda families, packs: [f"{RESULTS}/statistics/entqa/{name}/{p}.csv" for p in entqa_packs(packs)]


NEEDS |= {f"entqa_{name}": entqa_statistic(name) for name in [*ENTQA_STATISTICS, "thresholds"]}
NEEDS["entqa_signature"] = lambda families, packs: [f"{RESULTS}/entqa/{p}/signature.json" for p in entqa_packs(packs)]
NEEDS["entqa_cases"] = lambda families, packs: [
    f"{RESULTS}/entqa/cases/{name}.json" for p in entqa_packs(packs) for name in entqa_benchmarks(p)
]


rule find_entities:
    input:
        datasets=entqa_datasets,
        answers=entqa_answers,
        resources=sorted(map(str, Path("resources/entqa").glob("*.txt"))),
        library=library("encoders.py", *ENTQA_MODULES),
    output:
        mentions=RESULTS + "/entqa/{pack}/mentions.jsonl",
        embeddings=RESULTS + "/entqa/{pack}/embeddings.npz",
        signature=RESULTS + "/entqa/{pack}/signature.json",
    log:
        RESULTS + "/logs/entqa/{pack}/find_entities.log",
    benchmark:
        RESULTS + "/benchmarks/entqa/{pack}/find_entities.tsv"
    conda:
        "../envs/entqa.yaml"
    params:
        settings=ENTQA,
        benchmarks=lambda w: entqa_benchmarks(w.pack),
        journal=ENTQA_JOURNAL,
    threads: 1
    resources:
        mem_mb=lambda w, attempt: (32000 if entqa_gpus() else 4000) * attempt,
        runtime=lambda w, attempt: 240 * attempt,
        gpu=lambda w: entqa_gpus(),
    script:
        "../workflow/scripts/find_entities.py"


rule score_entqa:
    input:
        datasets=entqa_datasets,
        answers=entqa_answers,
        mentions=rules.find_entities.output.mentions,
        embeddings=rules.find_entities.output.embeddings,
        signature=rules.find_entities.output.signature,
        resources=rules.find_entities.input.resources,
        library=library(*ENTQA_MODULES),
    output:
        scores=RESULTS + "/scores/entqa/greedy/{model}/{pack}.parquet",
        details=RESULTS + "/scores/entqa/greedy/{model}/{pack}.jsonl",
    log:
        RESULTS + "/logs/scores/entqa/greedy/{model}/{pack}.log",
    benchmark:
        RESULTS + "/benchmarks/scores/entqa/greedy/{model}/{pack}.tsv"
    conda:
        "../envs/entqa.yaml"
    params:
        settings=ENTQA,
        benchmarks=lambda w: STUDY.scored_benchmarks("entqa", "greedy", w.model, w.pack),
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=lambda w, attempt: 60 * attempt,
    script:
        "../workflow/scripts/score_entqa.py"


rule score_entqa_baselines:
    input:
        datasets=entqa_datasets,
        answers=entqa_answers,
        library=library(
            "scoring.py",
            "encoders.py",
            "extraction.py",
            "entqa/scoring.py",
            "entqa/answers.py",
            "entqa/splitting.py",
            "metrics/base.py",
            "metrics/entqa_baselines.py",
            *(f"metrics/{name}.py" for name in sorted(ENTQA_BASELINES)),
        ),
    output:
        RESULTS + "/scores/entqa_baselines/greedy/{model}/{pack}.parquet",
    log:
        RESULTS + "/logs/scores/entqa_baselines/greedy/{model}/{pack}.log",
    benchmark:
        RESULTS + "/benchmarks/scores/entqa_baselines/greedy/{model}/{pack}.tsv"
    conda:
        "../envs/entqa.yaml"
    params:
        settings=ENTQA_BASELINES,
        benchmarks=lambda w: STUDY.scored_benchmarks("entqa_baselines", "greedy", w.model, w.pack),
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 8000 * attempt,
        runtime=lambda w, attempt: 120 * attempt,
    script:
        "../workflow/scripts/score_entqa_baselines.py"


rule analyse_entqa:
    input:
        scores=lambda w: [path for family in ENTQA_FAMILIES for path in score_files(family, w.pack)],
        library=library("entqa/analyses.py", "statistics/correlation.py", "statistics/aggregation.py", "statistics/scores.py"),
    output:
        **{name: f"{RESULTS}/statistics/entqa/{name}/{{pack}}.csv" for name in ENTQA_STATISTICS},
    log:
        RESULTS + "/logs/statistics/entqa/{pack}.log",
    benchmark:
        RESULTS + "/benchmarks/statistics/entqa/{pack}.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        parameters=lambda w: {model: STUDY.models[model].get("parameters") for model in entqa_models(w.pack)},
        seed=config["study"]["seed"],
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=60,
    script:
        "../workflow/scripts/analyse_entqa.py"


rule sweep_entqa:
    input:
        datasets=entqa_datasets,
        answers=entqa_answers,
        mentions=rules.find_entities.output.mentions,
        resources=rules.find_entities.input.resources,
        library=library("encoders.py", "entqa/sweep.py", "statistics/correlation.py", *ENTQA_MODULES),
    output:
        RESULTS + "/statistics/entqa/thresholds/{pack}.csv",
    log:
        RESULTS + "/logs/statistics/entqa/thresholds/{pack}.log",
    benchmark:
        RESULTS + "/benchmarks/statistics/entqa/thresholds/{pack}.tsv"
    conda:
        "../envs/entqa.yaml"
    params:
        settings=ENTQA,
        benchmarks=lambda w: entqa_benchmarks(w.pack),
        journal=ENTQA_JOURNAL,
    threads: 1
    resources:
        mem_mb=lambda w, attempt: (32000 if entqa_gpus() else 4000) * attempt,
        runtime=lambda w, attempt: 240 * attempt,
        gpu=lambda w: entqa_gpus(),
    script:
        "../workflow/scripts/sweep_entqa.py"


rule show_cases:
    input:
        details=lambda w: [
            f"{RESULTS}/scores/entqa/greedy/{model}/{pack}.jsonl"
            for pack, names in STUDY.packs.items()
            if w.benchmark in names
            for model in entqa_models(pack)
        ],
        library=library("entqa/case_view.py"),
        template=f"{LIBRARY}/entqa/case_view.html.j2",
    output:
        page=RESULTS + "/entqa/cases/{benchmark}.html",
        cases=RESULTS + "/entqa/cases/{benchmark}.json",
    log:
        RESULTS + "/logs/entqa/cases/{benchmark}.log",
    benchmark:
        RESULTS + "/benchmarks/entqa/cases/{benchmark}.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        benchmark=lambda w: w.benchmark,
        title=lambda w: STUDY.benchmarks[w.benchmark].title,
        variant=(ENTQA or {}).get("variants", ["as_coded"])[0],
    threads: 1
    resources:
        mem_mb=2000,
        runtime=15,
    script:
        "../workflow/scripts/show_cases.py"


rule entqa_tables:
    input:
        [f"{RESULTS}/tables/{table}.{form}" for table in ENTQA_TABLES for form in ("csv", "md", "tex", "json")],
        [f"{RESULTS}/entqa/cases/{name}.html" for pack in entqa_packs(STUDY.packs) for name in entqa_benchmarks(pack)],
