"""The report, and the picture of the workflow that it shows."""


def stage_jobs(stage):
    """How many (model, pack) pairs have something to do in a stage."""
    if stage in STUDY.helper_stages:
        return sum(bool(STUDY.stage_benchmarks(stage, pack)) for pack in STUDY.packs)
    return sum(bool(STUDY.stage_benchmarks(stage, p, m)) for p in STUDY.packs for m in STUDY.models_of(p))


def counted(n, thing):
    return f"{n} {thing}" if n == 1 else f"{n} {thing}s"


def modules_in_words(family):
    """The family's metric modules as far as a box has room for them."""
    names = list(STUDY.metric_modules(family))
    return ", ".join(names) if len(", ".join(names)) <= 22 else counted(len(names), "module")


def picture_layers():
    """The stages of this study from left to right, with how much each has to do."""
    stages = [stage for stage in stage_registry.names() if stage_jobs(stage)]
    families = [f for f in STUDY.families if means_files([f], STUDY.packs)]
    statistics = [
        ("means", "means and intervals", counted(len(means_files(STUDY.families, STUDY.packs)), "file")),
        ("metric_correlations", "metric × metric", counted(len(NEEDS["metric_correlations"](families, STUDY.packs)), "file")),
        *(
            (kind, kind.replace("_", "-"), counted(len(NEEDS[kind](families, STUDY.packs)), "file"))
            for kind in dispersion_kinds.KINDS
            if NEEDS[kind](families, STUDY.packs)
        ),
        *(
            (need, label, counted(len(NEEDS[need](families, STUDY.packs)), "file"))
            for need, label in SENSITIVITY_LABELS.items()
            if NEEDS[need](families, STUDY.packs)
        ),
    ]
    return [
        {
            "title": "Data",
            "boxes": [{"id": "data", "label": "data sets", "detail": counted(len(STUDY.benchmarks), "benchmark")}],
        },
        {
            "title": "Inference",
            "boxes": [{"id": s, "label": s, "detail": counted(stage_jobs(s), "job")} for s in stages],
        },
        {
            "title": "Scores",
            "boxes": [
                {"id": f"family-{f}", "label": f, "detail": modules_in_words(f)} for f in families
            ],
        },
        {"title": "Statistics", "boxes": [{"id": i, "label": label, "detail": d} for i, label, d in statistics]},
        {
            "title": "Results",
            "boxes": [
                {"id": "tables", "label": "tables", "detail": str(len(STUDY_TABLES))},
                {"id": "figures", "label": "figures", "detail": str(len(STUDY_FIGURES))},
            ],
        },
        {"title": "Report", "boxes": [{"id": "report", "label": "report", "detail": "this page"}]},
    ]


SENSITIVITY_LABELS = {"corruptions": "edited texts", "targets": "edited targets", "ladder": "noise ladder"}


def picture_arrows():
    """Who reads whom."""
    families = [f for f in STUDY.families if means_files([f], STUDY.packs)]
    stages = [stage for stage in stage_registry.names() if stage_jobs(stage)]
    arrows = [["data", stage] for stage in stages]
    for family in families:
        read = [s for s in stages if any(score_files(family, pack, s) for pack in STUDY.packs)]
        arrows += [[stage, f"family-{family}"] for stage in read]
        arrows += [[f"family-{family}", need] for need in ("means", "metric_correlations")]
        arrows += [
            [f"family-{family}", kind]
            for kind, compared in dispersion_kinds.KINDS.items()
            if any(all(score_files(family, pack, stage) for stage in compared) for pack in STUDY.packs)
        ]
        arrows += [[f"family-{family}", "corruptions"]] * (family in PAIR_FAMILIES)
        arrows += [[f"family-{family}", "targets"]] * bool(set(STUDY.metric_modules(family)) & set(TARGET_MODULES))
        arrows += [[f"family-{family}", "ladder"]] * bool(ladder_scores())
    for target, analyses in (("tables", STUDY_TABLES), ("figures", STUDY_FIGURES)):
        arrows += [[need, target] for need in sorted({need for analysis in analyses for need in analysis.needs})]
    return [*arrows, ["tables", "report"], ["figures", "report"]]


def identity_of(entry):
    """What a model is, in one line."""
    if "derived_from" in entry:
        return f"{entry['derived_from']} with noise {entry['noise']}, seed {entry.get('noise_seed', 0)}"
    name = entry.get("id") or entry.get("path") or entry.get("embedded") or entry.get("base_url") or "recorded answers"
    return f"{name} at {entry['revision']}" if "revision" in entry else name


def report_models():
    return {
        name: {
            "label": MODEL_LABELS[name],
            "derived_from": entry.get("derived_from", ""),
            "noise": entry.get("noise"),
            "identity": identity_of(entry),
            "engine": entry["engine"],
            "family": entry.get("family", ""),
            "parameters": entry.get("parameters"),
        }
        for name, entry in STUDY.models.items()
    }


def absent_analyses():
    absent = [a for a in (*TABLES, *FIGURES) if a not in STUDY_TABLES and a not in STUDY_FIGURES]
    return [{"rule": analysis.name, "title": analysis.title} for analysis in absent]


def pack_scores(pack):
    return [path for family in STUDY.families for path in score_files(family, pack)]


MAIN_STAGES = ("greedy", "likelihoods")


def pack_answers(pack):
    """Greedy answers and log-likelihoods of every model of the pack."""
    return [
        path for model in STUDY.models_of(pack) for stage in MAIN_STAGES for path in inference_files(stage, model, pack)
    ]


def entity_files(pack):
    """EntQA's covered and missing entities of every record, beside its scores."""
    return [str(Path(path).with_suffix(".jsonl")) for path in score_files("entqa", pack)] if "entqa" in STUDY.families else []


rule select_records:
    input:
        datasets=lambda w: dataset_files(STUDY.packs[w.pack]),
        answers=lambda w: pack_answers(w.pack),
        scores=lambda w: pack_scores(w.pack),
        entities=lambda w: entity_files(w.pack),
        library=library("report/records.py"),
    output:
        RESULTS + "/statistics/records/{pack}.json",
    log:
        RESULTS + "/logs/statistics/records/{pack}.log",
    benchmark:
        RESULTS + "/benchmarks/statistics/records/{pack}.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        seed=config["study"]["seed"],
    threads: 1
    resources:
        mem_mb=3000,
        runtime=30,
    script:
        "../workflow/scripts/select_records.py"


rule report:
    input:
        tables=[table_outputs(table)["json"] for table in STUDY_TABLES],
        figures=[figure_outputs(figure)["json"] for figure in STUDY_FIGURES],
        means=means_files(STUDY.families, STUDY.packs),
        manifests=manifest_files(STUDY.benchmarks),
        records=[f"{RESULTS}/statistics/records/{pack}.json" for pack in STUDY.packs if pack_scores(pack)],
        joins=recorded_joins(),
        library=library("report") + [f"{LIBRARY}/report/page.{suffix}" for suffix in ("html.j2", "css", "js")],
    output:
        RESULTS + "/report.html",
    log:
        RESULTS + "/logs/report.log",
    benchmark:
        RESULTS + "/benchmarks/report.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        reads=["tables", "figures", "means", "manifests", "records", "joins"],
        study={
            "name": config["study"]["name"],
            "seed": config["study"]["seed"],
            "configfiles": [os.path.relpath(path) for path in workflow.configfiles if Path(path).name != "config.yaml"],
            "models": report_models(),
            "benchmarks": list(STUDY.benchmarks),
            "layers": picture_layers(),
            "arrows": picture_arrows(),
            "absent": absent_analyses(),
            "costs": f"{RESULTS}/benchmarks",
        },
    threads: 1
    resources:
        mem_mb=3000,
        runtime=15,
    script:
        "../workflow/scripts/make_report.py"
