"""Models that the study makes itself. config.json stands for the whole directory: it holds the weights' sha256."""


def models_having(key):
    return one_of(name for name, entry in STUDY.models.items() if key in entry)


rule prepare_embedded_model:
    input:
        library=library("models.py"),
    output:
        config="resources/models/{model}/config.json",
    log:
        "logs/models/{model}.log",
    benchmark:
        RESULTS + "/benchmarks/models/{model}.tsv"
    wildcard_constraints:
        model=models_having("embedded"),
    conda:
        "../envs/engine-transformers.yaml"
    params:
        embedded=lambda w: STUDY.models[w.model]["embedded"],
    threads: 1
    resources:
        mem_mb=3000,
        runtime=10,
    script:
        "../workflow/scripts/prepare_embedded_model.py"


rule derive_model:
    input:
        config=lambda w: f"{STUDY.model_directory(STUDY.models[w.model]['derived_from'])}/config.json",
        library=library("models.py"),
    output:
        config="resources/models/{model}/config.json",
    log:
        "logs/models/{model}.log",
    benchmark:
        RESULTS + "/benchmarks/models/{model}.tsv"
    wildcard_constraints:
        model=models_having("derived_from"),
    conda:
        "../envs/engine-transformers.yaml"
    params:
        noise=lambda w: STUDY.models[w.model]["noise"],
        noise_seed=lambda w: STUDY.models[w.model]["noise_seed"],
    threads: 1
    resources:
        mem_mb=3000,
        runtime=10,
    script:
        "../workflow/scripts/derive_model.py"
