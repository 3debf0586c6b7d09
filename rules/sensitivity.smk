"""What each metric can see: edits of texts, and answers of models with noise on their weights."""

from beyondqa import metrics as metric_registry
from beyondqa.sensitivity import choice

SENSITIVITY = RESULTS + "/statistics/sensitivity"
SENSITIVITY_BENCHMARKS = choice.edited_benchmarks(STUDY)
TARGET_BENCHMARKS = choice.target_benchmarks(STUDY)
TARGET_MODELS = choice.target_models(STUDY)
TARGET_MODULES = choice.target_modules(STUDY)


def pair_modules(family):
    """Metric modules of a family that score any pair of texts, with their settings."""
    modules = {name: metric_registry.module(name) for name in STUDY.metric_modules(family)}
    return {
        name: STUDY.metric_modules(family)[name]
        for name, module in modules.items()
        if module.INPUT == "answers" and not hasattr(module, "TASKS")
    }


def edit_files(benchmarks):
    return [f"{SENSITIVITY}/edits/{name}.jsonl" for name in benchmarks]


def completion_files(model):
    """Completions of the prompts, where the study has Relaxed Perplexity."""
    return [file for pack in STUDY.packs for file in inference_files("completions", model, pack)] if "relaxed" in STUDY.families else []


def recorded_answers():
    """Answers that other systems gave."""
    return [
        file for pack in STUDY.packs for model in models_with("recorded") for file in inference_files("greedy", model, pack)
    ]


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
EDITS_ARE_USED = bool(SENSITIVITY_BENCHMARKS and (PAIR_FAMILIES or TARGET_MODELS))

NEEDS["corruptions"] = lambda families, packs: [
    f"{SENSITIVITY}/corruptions/{family}.csv" for family in (PAIR_FAMILIES if SENSITIVITY_BENCHMARKS else [])
]
NEEDS["targets"] = lambda families, packs: [f"{SENSITIVITY}/targets.csv"] if TARGET_MODELS else []
NEEDS["applicability"] = lambda families, packs: [f"{SENSITIVITY}/applicability.csv"] if EDITS_ARE_USED else []
NEEDS["ladder"] = lambda families, packs: [f"{SENSITIVITY}/ladder.csv"] if ladder_scores() else []


def sensitivity_chain():
    """Files of the edits and their comparisons -> the files that they are made from."""
    edits = edit_files(SENSITIVITY_BENCHMARKS)
    texts = [*dataset_files(SENSITIVITY_BENCHMARKS), *recorded_answers()]
    chain = dict.fromkeys([*edits, *NEEDS["applicability"](None, None)] if EDITS_ARE_USED else [], texts)
    chain |= dict.fromkeys(NEEDS["corruptions"](None, None), edits)
    for path in NEEDS["targets"](None, None):
        sources = [*edit_files(TARGET_BENCHMARKS), *dataset_files(TARGET_BENCHMARKS)]
        for model in TARGET_MODELS:
            chain[f"{SENSITIVITY}/targets/{model}.jsonl"] = [*sources, *completion_files(model)]
        completions = [file for model in TARGET_MODELS for file in completion_files(model)]
        chain[path] = [*sources, *target_answers(), *completions]
    return chain | dict.fromkeys(NEEDS["ladder"](None, None), ladder_scores())


def target_answers():
    return [f"{SENSITIVITY}/targets/{model}.jsonl" for model in TARGET_MODELS]


rule corrupt_texts:
    input:
        datasets=dataset_files(SENSITIVITY_BENCHMARKS),
        answers=recorded_answers(),
        lists=[f"resources/sensitivity/{name}.csv" for name in ("antonyms", "synonyms", "units")],
        library=library(*(f"sensitivity/{name}.py" for name in ("corruptions", "edits", "entities")), "entqa/extractors.py"),
    output:
        edits=edit_files(SENSITIVITY_BENCHMARKS),
        applicability=SENSITIVITY + "/applicability.csv",
    log:
        RESULTS + "/logs/statistics/sensitivity/edits.log",
    benchmark:
        RESULTS + "/benchmarks/statistics/sensitivity/edits.tsv"
    conda:
        "../envs/entqa.yaml"
    params:
        benchmarks=SENSITIVITY_BENCHMARKS,
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    script:
        "../workflow/scripts/corrupt_texts.py"


rule compare_corruptions:
    input:
        edits=edit_files(SENSITIVITY_BENCHMARKS),
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


# Engine -> the rule that asks its models.
ABOUT_EDITS = {engine: f"ask_{engine}_about_edits" for engine in sorted({STUDY.models[name]["engine"] for name in TARGET_MODELS})}

for engine, rule_name in ABOUT_EDITS.items():

    rule:
        name:
            rule_name
        input:
            edits=edit_files(TARGET_BENCHMARKS),
            datasets=dataset_files(TARGET_BENCHMARKS),
            completions=lambda w: completion_files(w.model),
            model=model_files,
            # What is asked may change with it; the journal keeps the answers.
            library=library("sensitivity/targets.py"),
        output:
            SENSITIVITY + "/targets/{model}.jsonl",
        log:
            RESULTS + "/logs/statistics/sensitivity/targets/{model}.log",
        benchmark:
            RESULTS + "/benchmarks/statistics/sensitivity/targets/{model}.tsv"
        wildcard_constraints:
            model=one_of([name for name in models_with(engine) if name in TARGET_MODELS]),
        conda:
            f"../envs/{engine_registry.module(engine).ENVIRONMENT}.yaml"
        params:
            entry=answering_entry,
            benchmarks=TARGET_BENCHMARKS,
            most=config["sensitivity"]["items"],
            settings=STUDY.stage_settings("relaxed"),
            variants=choice.target_variants(STUDY),
            chat_template=config["inference"]["chat_template"],
            seed=config["study"]["seed"],
            semantics=engine_registry.module(engine).SEMANTICS,
            journal=RESULTS + "/journals/edits/{model}",
        threads: engine_registry.module(engine).THREADS
        resources:
            mem_mb=lambda w, attempt: STUDY.memory_mb(w.model) * attempt,
            runtime=lambda w, attempt: STUDY.runtime_minutes(w.model, attempt),
            gpu=lambda w: STUDY.gpus(w.model),
        script:
            "../workflow/scripts/ask_about_edits.py"


rule compare_targets:
    input:
        edits=edit_files(TARGET_BENCHMARKS),
        datasets=dataset_files(TARGET_BENCHMARKS),
        answers=target_answers(),
        completions=[file for model in TARGET_MODELS for file in completion_files(model)],
        library=library(
            "relaxed_perplexity.py",
            "sensitivity/preferences.py",
            "sensitivity/targets.py",
            *(f"metrics/{name}.py" for name in TARGET_MODULES),
        ),
    output:
        SENSITIVITY + "/targets.csv",
    log:
        RESULTS + "/logs/statistics/sensitivity/targets.log",
    benchmark:
        RESULTS + "/benchmarks/statistics/sensitivity/targets.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        modules=TARGET_MODULES,
        most=config["sensitivity"]["items"],
        seed=config["study"]["seed"],
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=30,
    script:
        "../workflow/scripts/compare_targets.py"


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
