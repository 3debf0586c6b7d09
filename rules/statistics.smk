"""Statistics of the scores, and which files of them an analysis (a table or figure) reads."""

from beyondqa.statistics import dispersion as dispersion_kinds
from beyondqa.statistics.labels import model_labels


MODEL_LABELS = model_labels(STUDY.models)


def macro_over(benchmarks):
    """Benchmark -> metadata field, for benchmarks whose mean is over groups of items."""
    return {name: STUDY.benchmarks[name].macro_over for name in benchmarks if STUDY.benchmarks[name].macro_over}


def means_files(families, packs):
    return [f"{RESULTS}/statistics/means/{f}/{p}.csv" for f in families for p in packs if score_files(f, p)]


def dispersion_scores(kind, pack):
    """Score files, for every family that has them, of all stages that the kind compares."""
    of_families = [[score_files(f, pack, stage) for stage in dispersion_kinds.KINDS[kind]] for f in STUDY.families]
    return [path for stages in of_families if all(stages) for files in stages for path in files]


def dispersion_files(kind):
    return lambda families, packs: [
        f"{RESULTS}/statistics/dispersion/{kind}/{p}.parquet" for p in packs if dispersion_scores(kind, p)
    ]


# Output of correlate_metrics -> its folder.
METRIC_ANALYSES = {
    "pairs": "correlations/metrics",
    "stability": "stability",
    "families": "families",
    "clusters": "clusters",
}
METRIC_ANALYSIS_MODULES = (
    "aggregation",
    "clusters",
    "correlation",
    "matrices",
    "robustness",
    "scores",
    "stability",
)


def metric_analysis_files(name):
    return lambda families, packs: [
        f"{RESULTS}/statistics/{METRIC_ANALYSES[name]}/{p}.csv" for p in packs if means_files(families, [p])
    ]


def benchmark_correlation_files(families, packs):
    return [f"{RESULTS}/statistics/correlations/benchmarks/{f}.csv" for f in families if means_files([f], packs)]


# What an analysis may need -> its files, from the families and packs that the analysis is about.
NEEDS = {
    "means": means_files,
    **{kind: dispersion_files(kind) for kind in dispersion_kinds.KINDS},
    "metric_correlations": metric_analysis_files("pairs"),
    "stability": metric_analysis_files("stability"),
    "families": metric_analysis_files("families"),
    "clusters": metric_analysis_files("clusters"),
    "accuracy_correlations": lambda families, packs: (
        [f"{RESULTS}/statistics/correlations/accuracy.csv"] if means_files(families, packs) else []
    ),
    "benchmark_correlations": benchmark_correlation_files,
    "relaxed_scores": lambda families, packs: [path for p in packs for path in score_files("relaxed", p)] if "relaxed" in STUDY.families else [],
    "datasets": lambda families, packs: dataset_files([b for p in packs for b in STUDY.packs[p]]),
}


def covered(analysis):
    return [name for name, benchmark in STUDY.benchmarks.items() if analysis.covers(benchmark)]


def manifest_files(benchmarks):
    return [f"{RESULTS}/datasets/{name}.manifest.json" for name in benchmarks]


def analysis_files(analysis):
    """Named input files of a table or figure; every list is empty where the study has none of its benchmarks."""
    packs = [pack for pack, names in STUDY.packs.items() if set(names) & set(covered(analysis))]
    families = [family for family in STUDY.families if not analysis.families or family in analysis.families]
    return {need: NEEDS[need](families, packs) for need in analysis.needs}


def analysis_models(analysis):
    """What labels need to know of the models that are asked anything that the analysis covers."""
    tasks = {STUDY.benchmarks[name].task for name in covered(analysis)}
    return {
        name: {
            "label": MODEL_LABELS[name],
            "family": entry.get("family", ""),
            "derived_from": entry.get("derived_from", ""),
            "noise": entry.get("noise"),
            "parameters": entry.get("parameters"),
        }
        for name, entry in STUDY.models.items()
        if tasks & STUDY.tasks_of(name)
    }


def analysis_benchmarks(analysis):
    return {
        name: {
            "title": STUDY.benchmarks[name].title,
            "task": STUDY.benchmarks[name].task,
            "kind": STUDY.benchmarks[name].kind,
            "truncation_side": STUDY.benchmarks[name].truncation_side,
        }
        for name in covered(analysis)
    }


def analysis_groups():
    return {name: list(group["models"]) for name, group in config["groups"].items()}


def is_in_study(analysis):
    """Whether the study has anything for the analysis to show. If not, it is made only when asked for by name."""
    return any(analysis_files(analysis).values())


wildcard_constraints:
    kind=one_of(dispersion_kinds.KINDS),


rule summarise_means:
    input:
        scores=lambda w: score_files(w.family, w.pack),
        datasets=lambda w: dataset_files(macro_over(STUDY.packs[w.pack])),
        library=library("statistics/aggregation.py", "statistics/scores.py"),
    output:
        RESULTS + "/statistics/means/{family}/{pack}.csv",
    log:
        RESULTS + "/logs/statistics/means/{family}/{pack}.log",
    benchmark:
        RESULTS + "/benchmarks/statistics/means/{family}/{pack}.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        macro_over=lambda w: macro_over(STUDY.packs[w.pack]),
        seed=config["study"]["seed"],
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=15,
    script:
        "../workflow/scripts/summarise_means.py"


rule measure_dispersion:
    input:
        scores=lambda w: dispersion_scores(w.kind, w.pack),
        library=library("statistics/dispersion.py", "statistics/scores.py"),
    output:
        RESULTS + "/statistics/dispersion/{kind}/{pack}.parquet",
    log:
        RESULTS + "/logs/statistics/dispersion/{kind}/{pack}.log",
    benchmark:
        RESULTS + "/benchmarks/statistics/dispersion/{kind}/{pack}.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        rephraser=lambda w: STUDY.helper_stages.get(dispersion_kinds.KINDS[w.kind][-1], ""),
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=15,
    script:
        "../workflow/scripts/measure_dispersion.py"


rule correlate_metrics:
    input:
        scores=lambda w: [path for family in STUDY.families for path in score_files(family, w.pack)],
        datasets=lambda w: dataset_files(macro_over(STUDY.packs[w.pack])),
        library=library(*(f"statistics/{name}.py" for name in METRIC_ANALYSIS_MODULES)),
    output:
        **{name: f"{RESULTS}/statistics/{folder}/{{pack}}.csv" for name, folder in METRIC_ANALYSES.items()},
    log:
        RESULTS + "/logs/statistics/correlations/metrics/{pack}.log",
    benchmark:
        RESULTS + "/benchmarks/statistics/correlations/metrics/{pack}.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        macro_over=lambda w: macro_over(STUDY.packs[w.pack]),
        families=lambda w: {name: STUDY.models[name].get("family", "") for name in STUDY.models_of(w.pack)},
        seed=config["study"]["seed"],
    threads: 1
    resources:
        mem_mb=lambda w, attempt: 4000 * attempt,
        runtime=15,
    script:
        "../workflow/scripts/correlate_metrics.py"


rule correlate_accuracy:
    input:
        means=lambda w: means_files(STUDY.families, STUDY.packs),
        library=library("statistics/against.py", "statistics/correlation.py", "statistics/matrices.py"),
    output:
        RESULTS + "/statistics/correlations/accuracy.csv",
    log:
        RESULTS + "/logs/statistics/correlations/accuracy.log",
    benchmark:
        RESULTS + "/benchmarks/statistics/correlations/accuracy.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        questions=[name for name, benchmark in STUDY.benchmarks.items() if benchmark.task == "multiple_choice"],
        sizes={name: entry.get("parameters") for name, entry in STUDY.models.items()},
        families={name: entry.get("family", "") for name, entry in STUDY.models.items()},
    threads: 1
    resources:
        mem_mb=2000,
        runtime=15,
    script:
        "../workflow/scripts/correlate_accuracy.py"


rule correlate_benchmarks:
    input:
        means=lambda w: means_files([w.family], STUDY.packs),
        library=library("statistics/correlation.py", "statistics/matrices.py"),
    output:
        RESULTS + "/statistics/correlations/benchmarks/{family}.csv",
    log:
        RESULTS + "/logs/statistics/correlations/benchmarks/{family}.log",
    benchmark:
        RESULTS + "/benchmarks/statistics/correlations/benchmarks/{family}.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        family=lambda w: w.family,
    threads: 1
    resources:
        mem_mb=2000,
        runtime=15,
    script:
        "../workflow/scripts/correlate_benchmarks.py"
