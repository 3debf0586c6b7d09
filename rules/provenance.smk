"""Where every number comes from: hashes of all files of a run, from the data sets to the report, and their check."""

import itertools
from types import SimpleNamespace


def inference_chain():
    """Answers and log-likelihoods -> the data sets and answers they were made from."""
    chain = {}
    for stage in stage_registry.names():
        for pack in STUDY.packs:
            helping = stage in STUDY.helper_stages
            for model in [STUDY.helper_stages[stage]] if helping else STUDY.models_of(pack):
                job = SimpleNamespace(stage=stage, model=model, pack=pack)
                made = helper_files(stage, pack) if helping else inference_files(stage, model, pack)
                chain |= dict.fromkeys(made, [*stage_items(job), *answers_asked_about(job)])
                if stage in STUDY.template_stages(model):
                    chain |= dict.fromkeys(inference_files(stage, model, pack, OTHER_TEMPLATE), stage_items(job))
    return chain


def score_chain():
    """Score files -> the data sets and answers they were made from."""
    chain = {}
    for family in STUDY.families:
        for stage in stage_registry.names():
            for pack in STUDY.packs:
                for path in score_files(family, pack, stage):
                    job = SimpleNamespace(family=family, stage=stage, model=Path(path).parent.name, pack=pack)
                    chain[path] = [*scored_items(job), *scored_answers(job)]
    return chain


def statistics_chain():
    """Statistics of the scores -> the score files they were made from."""
    chain = {}
    for pack in STUDY.packs:
        scores = pack_scores(pack)
        chain |= {f"{RESULTS}/statistics/means/{f}/{pack}.csv": score_files(f, pack) for f in STUDY.families if score_files(f, pack)}
        if scores:
            chain |= {f"{RESULTS}/statistics/{folder}/{pack}.csv": scores for folder in METRIC_ANALYSES.values()}
        for kind in dispersion_kinds.KINDS:
            chain |= {path: dispersion_scores(kind, pack) for path in NEEDS[kind](STUDY.families, [pack])}
        if grid_answers(pack):
            data = dataset_files(STUDY.stage_benchmarks(GRID_STAGES[0], pack))
            chain[f"{RESULTS}/statistics/relaxed_grid/{pack}.csv"] = [*data, *grid_answers(pack)]
    for family, pack in itertools.product(TEMPLATE_FAMILIES, STUDY.packs):
        if template_models(family, pack):
            answers = [path for on in (False, True) for path in template_answers(family, pack, on)]
            data = dataset_files(template_benchmarks(family, pack))
            chain[f"{RESULTS}/statistics/chat_template/{family}/{pack}.csv"] = [*data, *answers]
    for family in STUDY.families:
        means = means_files([family], STUDY.packs)
        chain |= {path: means for path in NEEDS["benchmark_correlations"]([family], STUDY.packs)}
    chain |= {p: means_files(STUDY.families, STUDY.packs) for p in NEEDS["accuracy_correlations"](STUDY.families, STUDY.packs)}
    return chain | sensitivity_chain()


def source_files(benchmark):
    """The files that a data set is read from: its source's, or those of the release."""
    if "from_release" not in config:
        return dataset_sources(SimpleNamespace(benchmark=benchmark))
    release = Path(config["from_release"])
    return sorted(str(path) for path in (release.rglob("*") if release.is_dir() else [release]) if path.is_file())


def run_files():
    """Every file of the run: path -> {kind, from}, the files of one stage after those that they are made from."""
    chain = {}

    def add(kind, made):
        for path, sources in made.items():
            chain.setdefault(path, {"kind": kind, "from": sorted(set(sources))})

    for name in STUDY.benchmarks:
        sources = source_files(name)
        add("release" if "from_release" in config else "source", dict.fromkeys(sources, []))
        add("data set", dict.fromkeys(dataset_files([name]), sources))
        add("manifest", dict.fromkeys(manifest_files([name]), sources))
    add("answers", inference_chain())
    add("scores", score_chain())
    add("statistics", statistics_chain())
    for kind, analyses, outputs in (("table", STUDY_TABLES, table_outputs), ("figure", STUDY_FIGURES, figure_outputs)):
        for analysis in analyses:
            sources = [path for paths in analysis_files(analysis).values() for path in paths]
            add("statistics", {path: [] for path in sources})
            add(kind, dict.fromkeys(outputs(analysis).values(), sources))
    results = [path for path, entry in chain.items() if entry["kind"] in ("table", "figure")]
    add("report", {str(rules.report.output): results})
    return chain


rule provenance:
    input:
        files=lambda w: list(run_files()),
        library=library("report/provenance.py", "report/facts.py"),
    output:
        record=RESULTS + "/provenance.json",
        crate=RESULTS + "/ro-crate-metadata.json",
    log:
        RESULTS + "/logs/provenance.log",
    benchmark:
        RESULTS + "/benchmarks/provenance.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        chain=lambda w: run_files(),
        scores=lambda w: [path for pack in STUDY.packs for path in pack_scores(pack)],
        config=config,
        directories={name: str(STUDY.model_directory(name) or "") for name in STUDY.models},
        root=RESULTS,
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    script:
        "../workflow/scripts/record_provenance.py"


# No inputs and no outputs: with inputs, Snakemake would remake what this rule has to report.
rule verify:
    log:
        RESULTS + "/logs/verify.log",
    conda:
        "../envs/analysis.yaml"
    params:
        record=RESULTS + "/provenance.json",
    threads: 1
    resources:
        mem_mb=1000,
        runtime=60,
    localrule: True
    script:
        "../workflow/scripts/verify.py"
