"""CareQA-Open rebuilt from CareQA: `snakemake careqa_open_assemble`. The released set is the default source."""

from types import SimpleNamespace

from beyondqa.careqa_open.asking import token_limit
from beyondqa.careqa_open.construction import STEPS as ASKING_STEPS
from beyondqa.careqa_open.decisions import STEPS

CAREQA_FILE = f"{RESULTS}/datasets/careqa.jsonl"
CONSTRUCTION_COUNTS = f"{RESULTS}/careqa_open/counts.csv"
REBUILT = "careqa_open_rebuilt"


def careqa_files(families, packs):
    return dataset_files([name for name in ("careqa", "careqa_open") if name in STUDY.benchmarks])


def construction_files(families, packs):
    """Counts of the construction, where the study rebuilds the set."""
    return [CONSTRUCTION_COUNTS] if "careqa_open_construction" in config else []


NEEDS["careqa"] = careqa_files
NEEDS["construction"] = construction_files


if "careqa_open_construction" in config:
    CONSTRUCTION = config["careqa_open_construction"]
    CONSTRUCTOR = SimpleNamespace(model=CONSTRUCTION["model"])
    CONSTRUCTOR_ENGINE = engine_registry.module(STUDY.models[CONSTRUCTOR.model]["engine"])

    rule careqa_open_filter:
        input:
            careqa=CAREQA_FILE,
            library=library("careqa_open/keywords.py", "careqa_open/decisions.py"),
        output:
            decisions=RESULTS + "/careqa_open/keywords.jsonl",
            readings=RESULTS + "/careqa_open/keyword_readings.json",
        log:
            RESULTS + "/logs/careqa_open/keywords.log",
        benchmark:
            RESULTS + "/benchmarks/careqa_open/keywords.tsv"
        conda:
            "../envs/analysis.yaml"
        params:
            reading=CONSTRUCTION["reading"],
        threads: 1
        resources:
            mem_mb=1000,
            runtime=10,
        script:
            "../workflow/scripts/careqa_open_filter.py"

    for before, step in zip(STEPS, STEPS[1:]):

        rule:
            name:
                f"careqa_open_{step}"
            input:
                careqa=CAREQA_FILE,
                before=f"{RESULTS}/careqa_open/{before}.jsonl",
                model=model_files(CONSTRUCTOR),
                prompts=[f"resources/prompts/{name}.txt" for name in ASKING_STEPS[step].prompts],
                library=library("careqa_open", "normalisation.py", "templates.py"),
            output:
                f"{RESULTS}/careqa_open/{step}.jsonl",
            log:
                f"{RESULTS}/logs/careqa_open/{step}.log",
            benchmark:
                f"{RESULTS}/benchmarks/careqa_open/{step}.tsv"
            conda:
                f"../envs/{CONSTRUCTOR_ENGINE.ENVIRONMENT}.yaml"
            params:
                step=step,
                entry=answering_entry(CONSTRUCTOR),
                attempts=CONSTRUCTION["attempts"],
                max_new_tokens=token_limit(config["inference"].get("max_new_tokens")),
                seed=config["study"]["seed"],
                semantics=CONSTRUCTOR_ENGINE.SEMANTICS,
                journal=f"{RESULTS}/journals/careqa_open/{CONSTRUCTOR.model}",
            threads: CONSTRUCTOR_ENGINE.THREADS
            resources:
                mem_mb=lambda w, attempt: STUDY.memory_mb(CONSTRUCTOR.model) * attempt,
                runtime=lambda w, attempt: STUDY.runtime_minutes(CONSTRUCTOR.model, attempt),
                gpu=STUDY.gpus(CONSTRUCTOR.model),
            script:
                "../workflow/scripts/careqa_open_ask.py"

    rule careqa_open_assemble:
        input:
            careqa=CAREQA_FILE,
            library=library("careqa_open"),
            **{step: f"{RESULTS}/careqa_open/{step}.jsonl" for step in STEPS},
        output:
            rebuilt=RESULTS + "/careqa_open/rebuilt.jsonl",
            counts=CONSTRUCTION_COUNTS,
        log:
            RESULTS + "/logs/careqa_open/assemble.log",
        benchmark:
            RESULTS + "/benchmarks/careqa_open/assemble.tsv"
        conda:
            "../envs/analysis.yaml"
        threads: 1
        resources:
            mem_mb=1000,
            runtime=10,
        script:
            "../workflow/scripts/careqa_open_assemble.py"


if REBUILT in STUDY.benchmarks:
    # The file is named by the config, so that a set rebuilt elsewhere serves as well; it may be yet to be made here.
    use rule normalise_dataset as normalise_careqa_open_rebuilt with:
        input:
            sources=[config["benchmarks"][REBUILT]["path"]],
            prompt=rules.normalise_dataset.input.prompt,
            library=rules.normalise_dataset.input.library,
        wildcard_constraints:
            benchmark=REBUILT,
        params:
            settings=lambda w: {**dataset_settings(w), "rows": None},

    ruleorder: normalise_careqa_open_rebuilt > normalise_dataset
