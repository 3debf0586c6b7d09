"""What each metric can see: edits of texts, and answers of models with noise on their weights."""

from beyondqa import metrics as metric_registry

SENSITIVITY = RESULTS + "/statistics/sensitivity"
SENSITIVITY_BENCHMARKS = [
    name for name, benchmark in STUDY.benchmarks.items() if benchmark.kind == "open" and benchmark.task != "entqa"
]


def pair_modules(family):
    """Metric modules of a family that score any pair of texts."""
    modules = {name: metric_registry.module(name) for name in STUDY.metric_modules(family)}
    return {
        name: STUDY.metric_modules(family)[name]
        for name, module in modules.items()
        if module.INPUT == "answers" and not hasattr(module, "TASKS")
    }


def noises():
    """Model -> (base model, noise) for every derived model and every base that has one."""
    derived = {m: (entry["derived_from"], entry["noise"]) for m, entry in STUDY.models.items() if "derived_from" in entry}
    return {base: (base, 0.0) for base, _ in derived.values()} | derived


def ladder_scores(wildcards=None):
    models = noises()
    return [
        path
        for family in STUDY.families
        for pack in STUDY.packs
        for path in score_files(family, pack)
        if Path(path).parent.name in models
    ]


PAIR_FAMILIES = [family for family in STUDY.families if pair_modules(family)]

NEEDS["corruptions"] = lambda families, packs: [
    f"{SENSITIVITY}/corruptions/{family}.csv" for family in (PAIR_FAMILIES if SENSITIVITY_BENCHMARKS else [])
]
NEEDS["applicability"] = lambda families, packs: (
    [f"{SENSITIVITY}/applicability.csv"] if SENSITIVITY_BENCHMARKS and PAIR_FAMILIES else []
)
NEEDS["ladder"] = lambda families, packs: [f"{SENSITIVITY}/ladder.csv"] if ladder_scores() else []


rule corrupt_texts:
    input:
        datasets=dataset_files(SENSITIVITY_BENCHMARKS),
        lists=[f"resources/sensitivity/{name}.csv" for name in ("antonyms", "synonyms", "units")],
        library=library("sensitivity/corruptions.py", "sensitivity/preferences.py", "entqa/extractors.py"),
    output:
        texts=SENSITIVITY + "/corruptions.json",
        applicability=SENSITIVITY + "/applicability.csv",
    log:
        RESULTS + "/logs/statistics/sensitivity/corruptions.log",
    benchmark:
        RESULTS + "/benchmarks/statistics/sensitivity/corruptions.tsv"
    conda:
        "../envs/entqa.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    script:
        "../workflow/scripts/corrupt_texts.py"


rule compare_corruptions:
    input:
        texts=SENSITIVITY + "/corruptions.json",
        library=lambda w: library("scoring.py", "encoders.py", "sensitivity/preferences.py", *STUDY.metric_files(w.family)),
    output:
        SENSITIVITY + "/corruptions/{family}.csv",
    log:
        RESULTS + "/logs/statistics/sensitivity/corruptions/{family}.log",
    benchmark:
        RESULTS + "/benchmarks/statistics/sensitivity/corruptions/{family}.tsv"
    conda:
        lambda w: f"../envs/{STUDY.metric_environment(w.family)}.yaml"
    params:
        modules=lambda w: pair_modules(w.family),
        seed=config["study"]["seed"],
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=lambda w, attempt: 60 * attempt,
    script:
        "../workflow/scripts/compare_corruptions.py"


rule compare_noise_levels:
    input:
        scores=ladder_scores,
        library=library("sensitivity/preferences.py", "statistics/scores.py"),
    output:
        SENSITIVITY + "/ladder.csv",
    log:
        RESULTS + "/logs/statistics/sensitivity/ladder.log",
    benchmark:
        RESULTS + "/benchmarks/statistics/sensitivity/ladder.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        noises=noises(),
        seed=config["study"]["seed"],
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=30,
    script:
        "../workflow/scripts/compare_noise_levels.py"
