"""Benchmarks: from the rows of their sources to items with stable ids, and manifests that explain them."""

import json

from beyondqa.fetching import metric_folders, model_ids
from beyondqa.sources import existing_files, lock_keys

LOCK = "resources/sources.lock.json"
with open(Path(workflow.basedir) / LOCK, encoding="utf-8") as file:
    LOCKED = json.load(file)

# Rows written by hand need no source. HEAD-QA is fetched for CareQA to be compared with.
FETCHED = [] if "rows" in config else sorted({*STUDY.benchmarks, *(["head_qa"] if "careqa" in STUDY.benchmarks else [])})

# Keys of a benchmark's entry that `beyondqa.loading.load` takes as they stand.
LOADING_KEYS = ("path", "limit", "few_shot", "expected_rows")


def dataset_sources(wildcards):
    """The source's files that are there. A missing one is told by the script, with the remedy."""
    if "rows" in config:
        return [path for path in [f"{config['rows']}/{STUDY.benchmarks[wildcards.benchmark].rows}.jsonl"] if Path(path).exists()]
    return existing_files(
        STUDY.benchmarks[wildcards.benchmark].source,
        hub_mirror=config["hub_mirror"],
        originals=config["originals"],
        path=config["benchmarks"][wildcards.benchmark].get("path"),
    )


def dataset_settings(wildcards):
    """What `beyondqa.loading.load` is called with."""
    entry = config["benchmarks"][wildcards.benchmark]
    keys = lock_keys(STUDY.benchmarks[wildcards.benchmark].source)
    return {
        "hub_mirror": config["hub_mirror"],
        "originals": config["originals"],
        "rows": config.get("rows"),
        "seed": config["study"]["seed"],
        "locked": {key: LOCKED[key] for key in keys if key in LOCKED},
        **{key: entry[key] for key in LOADING_KEYS if key in entry},
    }


rule normalise_dataset:
    input:
        sources=dataset_sources,
        prompt=lambda w: config["benchmarks"][w.benchmark].get(
            "prompt", f"resources/prompts/{STUDY.benchmarks[w.benchmark].prompt}.txt"
        ),
        library=lambda w: library(
            "loading.py",
            "templates.py",
            "sources.py",
            "benchmarks/base.py",
            f"benchmarks/{w.benchmark}.py",
            *sorted(f"benchmarks/{path.name}" for path in (Path(LIBRARY) / "benchmarks").glob("_[a-z]*.py")),
        ),
    output:
        dataset=RESULTS + "/datasets/{benchmark}.jsonl",
        manifest=RESULTS + "/datasets/{benchmark}.manifest.json",
    log:
        RESULTS + "/logs/datasets/{benchmark}.log",
    benchmark:
        RESULTS + "/benchmarks/datasets/{benchmark}.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        settings=dataset_settings,
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    script:
        "../workflow/scripts/normalise_dataset.py"


# Fetching has no outputs, and no benchmark, which Snakemake takes for one, so that it looks at what is there
# each time that it is asked for.
rule fetch:
    log:
        "logs/fetch.log",
    conda:
        "../envs/analysis.yaml"
    params:
        benchmarks=FETCHED,
        metrics=metric_folders(config),
        models=model_ids(config),
        hub_mirror=config["hub_mirror"],
        originals=config["originals"],
        lock=LOCK,
    threads: 1
    resources:
        mem_mb=4000,
        runtime=1440,
    localrule: True
    script:
        "../workflow/scripts/fetch.py"


use rule fetch as fetch_data with:
    log:
        "logs/fetch_data.log",
    params:
        benchmarks=FETCHED,
        metrics=metric_folders(config),
        models={},
        hub_mirror=config["hub_mirror"],
        originals=config["originals"],
        lock=LOCK,


use rule fetch as fetch_models with:
    log:
        "logs/fetch_models.log",
    params:
        benchmarks=[],
        metrics={},
        models=model_ids(config),
        hub_mirror=config["hub_mirror"],
        originals=config["originals"],
        lock=LOCK,
