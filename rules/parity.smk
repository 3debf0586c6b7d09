"""Whether the engines agree about a model: `snakemake parity`. `-F` asks both again."""

from beyondqa import parity as engine_parity, resources as job_resources

PARITY_MODELS = STUDY.parity_models


def in_float32(model, engine):
    """The model's entry as a job of this engine has it: resources follow from it."""
    return {**STUDY.models[model], "engine": engine, "dtype": "float32"}


def parity_gpus(model, engine):
    """None where the study runs the model without; transformers takes one."""
    if not STUDY.gpus(model):
        return 0
    needed = job_resources.gpus(in_float32(model, "vllm"), config["planning"]["gpu_memory_gb"])
    return max(needed, STUDY.gpus(model)) if engine == "vllm" else 1


def parity_entry(wildcards, engine):
    parallel = STUDY.models[wildcards.model].get("tensor_parallel", max(1, parity_gpus(wildcards.model, engine)))
    return {**answering_entry(wildcards), "tensor_parallel": parallel}


def parity_memory(model, engine):
    """MB. On a CPU vLLM keeps keys and values in main memory, and runs as three processes."""
    beside = 2000 if engine == "vllm" and not STUDY.gpus(model) else 0
    return job_resources.memory_mb(in_float32(model, engine)) + beside


def parity_benchmarks(model):
    """Benchmarks that the model is asked, or all where it is only a helper."""
    own = [name for pack in STUDY.packs for name in STUDY.benchmarks_of(model, pack)]
    return own or list(STUDY.benchmarks)


for engine in engine_parity.ENGINES:

    rule:
        name:
            f"ask_{engine}_for_parity"
        input:
            datasets=lambda w: dataset_files(parity_benchmarks(w.model)),
            model=model_files,
        output:
            RESULTS + f"/parity/{engine}/{{model}}.jsonl",
        log:
            RESULTS + f"/logs/parity/{engine}/{{model}}.log",
        benchmark:
            RESULTS + f"/benchmarks/parity/{engine}/{{model}}.tsv"
        wildcard_constraints:
            model=one_of(PARITY_MODELS),
        conda:
            f"../envs/{engine_registry.module(engine).ENVIRONMENT}.yaml"
        params:
            entry=lambda w, engine=engine: parity_entry(w, engine),
            engine=engine,
            per_benchmark=config["parity"]["items"],
            semantics=engine_registry.module(engine).SEMANTICS,
        threads: engine_registry.module(engine).THREADS
        resources:
            mem_mb=lambda w, attempt, engine=engine: parity_memory(w.model, engine) * attempt,
            runtime=lambda w, attempt: STUDY.runtime_minutes(w.model, attempt),
            gpu=lambda w, engine=engine: parity_gpus(w.model, engine),
        script:
            "../workflow/scripts/ask_for_parity.py"


# No outputs: engines that do not agree fail this rule, and its tables are to stay.
rule parity:
    input:
        first=[RESULTS + f"/parity/{engine_parity.ENGINES[0]}/{model}.jsonl" for model in PARITY_MODELS],
        second=[RESULTS + f"/parity/{engine_parity.ENGINES[1]}/{model}.jsonl" for model in PARITY_MODELS],
    log:
        RESULTS + "/logs/parity.log",
    conda:
        "../envs/analysis.yaml"
    params:
        models=PARITY_MODELS,
        tolerance=config["parity"]["tolerance"],
        csv=RESULTS + "/tables/parity.csv",
        page=RESULTS + "/tables/parity.md",
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    localrule: True
    script:
        "../workflow/scripts/compare_engines.py"
