"""What a chat template changes: `snakemake chat_template`, for the models of the config's `chat_template_study`."""

from beyondqa import metrics as metric_registry

# Whether with the template -> the folder of the answers.
ANSWERS_BY_TEMPLATE = {WITH_TEMPLATE: "inference", not WITH_TEMPLATE: OTHER_TEMPLATE}
TEMPLATE_FAMILIES = [
    family
    for family in STUDY.families
    if STUDY.metric_input(family) in ("likelihoods", "answers", "choices")
    and not any(hasattr(metric_registry.module(name), "TASKS") for name in STUDY.metric_modules(family))
]


def template_models(family, pack):
    """Chosen models that the family scores in the pack -> the benchmarks."""
    stage = STUDY.main_stage(family)
    scored = {model: STUDY.scored_benchmarks(family, stage, model, pack) for model in STUDY.template_models}
    return {model: names for model, names in scored.items() if names}


def template_benchmarks(family, pack):
    scored = {name for names in template_models(family, pack).values() for name in names}
    return [name for name in STUDY.packs[pack] if name in scored]


def template_answers(family, pack, on):
    folder, stage = ANSWERS_BY_TEMPLATE[on], STUDY.main_stage(family)
    return [path for model in template_models(family, pack) for path in inference_files(stage, model, pack, folder)]


def template_modules(family):
    """The perplexities of the study are of the reference alone; here they are given the prompt, which has the template."""
    modules = STUDY.metric_modules(family)
    return {name: {**own, "conditional": True} if name == "perplexity" else own for name, own in modules.items()}


NEEDS["chat_template"] = lambda families, packs: [
    f"{RESULTS}/statistics/chat_template/{family}/{pack}.csv"
    for family in TEMPLATE_FAMILIES
    for pack in packs
    if template_models(family, pack)
]


# A rule whose environment depends on a wildcard must be in the plan, or Snakemake refuses to containerise.
if STUDY.template_models:

    rule compare_chat_template:
        input:
            datasets=lambda w: dataset_files(template_benchmarks(w.family, w.pack)),
            off=lambda w: template_answers(w.family, w.pack, on=False),
            on=lambda w: template_answers(w.family, w.pack, on=True),
            library=lambda w: library(
                "scoring.py",
                "encoders.py",
                "statistics/aggregation.py",
                "statistics/chat_template.py",
                "statistics/scores.py",
                "metrics/base.py",
                "metrics/_groups.py",
                "metrics/_lcs.py",
                *STUDY.metric_files(w.family),
            ),
        output:
            RESULTS + "/statistics/chat_template/{family}/{pack}.csv",
        log:
            RESULTS + "/logs/statistics/chat_template/{family}/{pack}.log",
        benchmark:
            RESULTS + "/benchmarks/statistics/chat_template/{family}/{pack}.tsv"
        wildcard_constraints:
            family=one_of(TEMPLATE_FAMILIES),
        conda:
            lambda w: f"../envs/{STUDY.metric_environment(w.family)}.yaml"
        params:
            modules=lambda w: template_modules(w.family),
            benchmarks=lambda w: template_benchmarks(w.family, w.pack),
            macro_over=lambda w: macro_over(template_benchmarks(w.family, w.pack)),
            seed=config["study"]["seed"],
        threads: 1
        resources:
            mem_mb=lambda w, attempt: 4000 * attempt,
            runtime=lambda w, attempt: 60 * attempt,
        script:
            "../workflow/scripts/compare_chat_template.py"
