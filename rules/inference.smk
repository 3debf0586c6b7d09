"""Asking models: one job a (stage, model, pack, shard), one rule an engine.

Library modules are no inputs here: an engine's SEMANTICS says when its answers change, and the journals
keep every answer already paid for, so that an edit costs no model time.
"""

# Keys of a model's entry that say how to plan and place its jobs, not what it answers.
PLANNING_KEYS = {"parameters", "family", "gpus", "mem_mb", "runtime"}
WITH_TEMPLATE, OTHER_TEMPLATE = config["inference"]["chat_template"], STUDY.other_template


def models_with(engine):
    return [name for name, entry in STUDY.models.items() if entry["engine"] == engine]


def prediction_files(model):
    """The files that a recorded model's answers are read from, as far as the study asks for them."""
    named = STUDY.recorded_benchmarks(model)[0]
    return [path for name in named for path in prediction_formats.paths(STUDY.models[model]["predictions"][name])]


def model_files(wildcards):
    """The file that says that a made model is complete, and the files of recorded predictions."""
    entry = STUDY.models[wildcards.model]
    files = prediction_files(wildcards.model)
    if "embedded" in entry or "derived_from" in entry:
        files.append(f"{STUDY.model_directory(wildcards.model)}/config.json")
    return files


def answers_of_all_models(stage, pack):
    """The answers that a helper's stage is about."""
    if stage in STUDY.helper_stages:
        return helper_files(stage, pack)
    return [file for model in STUDY.models_of(pack) for file in inference_files(stage, model, pack)]


def answers_asked_about(wildcards):
    about = stage_registry.get(wildcards.stage).ANSWERS
    if not about:
        return []
    if wildcards.stage in STUDY.helper_stages:
        return answers_of_all_models(about, wildcards.pack)
    return inference_files(about, wildcards.model, wildcards.pack)


def stage_items(wildcards):
    model = None if wildcards.stage in STUDY.helper_stages else wildcards.model
    return dataset_files(STUDY.stage_benchmarks(wildcards.stage, wildcards.pack, model))


def answering_entry(wildcards):
    """What of a model's entry can change its answers, and where its files lie."""
    entry = {key: value for key, value in STUDY.models[wildcards.model].items() if key not in PLANNING_KEYS}
    if entry["engine"] == "vllm":
        entry.setdefault("tensor_parallel", STUDY.gpus(wildcards.model))
    directory = STUDY.model_directory(wildcards.model)
    return entry if directory is None else {**entry, "directory": str(directory)}


def ways_to_ask():
    """Of each inference rule: name, engine, whether with the chat template, folder, folder of journals, models, stages."""
    for engine in sorted({entry["engine"] for entry in STUDY.models.values()} - {"recorded"}):
        models = models_with(engine)
        yield f"infer_{engine}", engine, WITH_TEMPLATE, "inference", "journals", models, stage_registry.names()
        if compared := [model for model in models if model in STUDY.template_models]:
            name, journals = f"infer_{engine}_{OTHER_TEMPLATE}", f"journals/{OTHER_TEMPLATE}"
            yield name, engine, not WITH_TEMPLATE, OTHER_TEMPLATE, journals, compared, STUDY.template_stages(compared[0])


for name, engine, template, folder, journals, models, stages in ways_to_ask():

    rule:
        name:
            name
        input:
            datasets=stage_items,
            model=model_files,
            answers=answers_asked_about,
            prompts=lambda w: STUDY.stage_prompts(w.stage),
        output:
            f"{RESULTS}/{folder}/{{stage}}/{{model}}/{{pack}}/{{shard}}-of-{{shards}}.jsonl",
        log:
            f"{RESULTS}/logs/{folder}/{{stage}}/{{model}}/{{pack}}/{{shard}}-of-{{shards}}.log",
        benchmark:
            f"{RESULTS}/benchmarks/{folder}/{{stage}}/{{model}}/{{pack}}/{{shard}}-of-{{shards}}.tsv"
        wildcard_constraints:
            model=one_of(models),
            stage=one_of(stages),
        conda:
            f"../envs/{engine_registry.module(engine).ENVIRONMENT}.yaml"
        params:
            entry=answering_entry,
            settings=lambda w: STUDY.stage_settings(w.stage),
            chat_template=template,
            max_new_tokens=config["inference"].get("max_new_tokens"),
            seed=config["study"]["seed"],
            semantics=engine_registry.module(engine).SEMANTICS,
            journal=f"{RESULTS}/{journals}/{{stage}}/{{model}}",
        threads: engine_registry.module(engine).THREADS
        resources:
            mem_mb=lambda w, attempt: STUDY.memory_mb(w.model) * attempt,
            runtime=lambda w, attempt: STUDY.runtime_minutes(w.model, attempt),
            gpu=lambda w: STUDY.gpus(w.model),
        script:
            "../workflow/scripts/infer.py"


rule read_recorded_answers:
    input:
        datasets=stage_items,
        model=model_files,
    output:
        RESULTS + "/inference/{stage}/{model}/{pack}/{shard}-of-{shards}.jsonl",
    log:
        RESULTS + "/logs/inference/{stage}/{model}/{pack}/{shard}-of-{shards}.log",
    benchmark:
        RESULTS + "/benchmarks/inference/{stage}/{model}/{pack}/{shard}-of-{shards}.tsv"
    wildcard_constraints:
        stage="greedy|samples|likelihoods",
        model=one_of(models_with("recorded")),
    conda:
        "../envs/analysis.yaml"
    params:
        entry=answering_entry,
        semantics=engine_registry.module("recorded").SEMANTICS,
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 2000 * attempt,
        runtime=30,
    script:
        "../workflow/scripts/read_recorded_answers.py"


def recorded_joins():
    """The report's file about recorded predictions; none where there are none, or a release has read them."""
    there = any(STUDY.recorded_benchmarks(model)[0] for model in models_with("recorded"))
    return [f"{RESULTS}/statistics/recorded_joins.json"] if there and "from_release" not in config else []


rule join_recorded_answers:
    input:
        datasets=lambda w: dataset_files(dict.fromkeys(b for m in models_with("recorded") for b in STUDY.recorded_benchmarks(m)[0])),
        predictions=[path for model in models_with("recorded") for path in prediction_files(model)],
        library=library("engines/recorded.py", "predictions"),
    output:
        RESULTS + "/statistics/recorded_joins.json",
    log:
        RESULTS + "/logs/statistics/recorded_joins.log",
    benchmark:
        RESULTS + "/benchmarks/statistics/recorded_joins.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        entries=[STUDY.models[model] for model in models_with("recorded")],
        unnamed={model: STUDY.recorded_benchmarks(model)[1] for model in models_with("recorded")},
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 2000 * attempt,
        runtime=30,
    script:
        "../workflow/scripts/join_recorded_answers.py"
