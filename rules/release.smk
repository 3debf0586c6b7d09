"""Released generations: packing them, and starting from them.

Credentialed data are withheld: a pack that holds such a benchmark is left out as a whole, data and answers.
With `from_release` in the config the data sets and answers come from a release and no model runs.
"""


def released_inputs():
    """Data sets with manifests, every answer, and the construction of CareQA-Open."""
    packs = [pack for pack in STUDY.packs if pack not in STUDY.withheld_packs]
    benchmarks = [name for pack in packs for name in STUDY.packs[pack]]
    answers = [path for path in inference_chain() if Path(path).parent.name in packs]
    construction = "careqa_open_construction" in config and "careqa" in benchmarks
    steps = [f"{RESULTS}/careqa_open/{step}.jsonl" for step in STEPS[1:]] if construction else []
    edited = target_answers() if TARGET_BENCHMARKS else []
    return [*dataset_files(benchmarks), *manifest_files(benchmarks), *answers, *steps, *edited]


def released_scores():
    """What a run from the release makes anew: scores, and edited texts, a benchmark of metrics in its own right."""
    scores = [path for path in score_chain() if Path(path).stem not in STUDY.withheld_packs]
    return [*scores, *(edit_files(TARGET_BENCHMARKS) if EDITS_ARE_USED else [])]


rule release:
    input:
        inputs=lambda w: released_inputs(),
        scores=lambda w: released_scores(),
        library=library("report/release.py"),
    output:
        f"{RESULTS}/release/{config['study']['name']}.tar.gz",
    log:
        RESULTS + "/logs/release.log",
    benchmark:
        RESULTS + "/benchmarks/release.tsv"
    conda:
        "../envs/analysis.yaml"
    params:
        config={key: value for key, value in config.items() if key != "from_release"},
        withheld=STUDY.withheld_packs,
        root=RESULTS,
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    script:
        "../workflow/scripts/pack_release.py"


if "from_release" in config:

    rule unpack_release:
        input:
            library=library("report/release.py"),
        output:
            released_inputs(),
        log:
            RESULTS + "/logs/unpack_release.log",
        benchmark:
            RESULTS + "/benchmarks/unpack_release.tsv"
        conda:
            "../envs/analysis.yaml"
        params:
            archive=config["from_release"],
            root=RESULTS,
        threads: 1
        resources:
            mem_mb=2000,
            runtime=60,
        script:
            "../workflow/scripts/unpack_release.py"

    # Every rule that makes one of these files otherwise, as far as this study has it.
    OTHERWISE = [
        "normalise_careqa_open_rebuilt",
        "normalise_dataset",
        "read_recorded_answers",
        *(name for name, *_ in ways_to_ask()),
        *(f"careqa_open_{step}" for step in STEPS),
    ]
    workflow.ruleorder("unpack_release", *filter(workflow.is_rule, OTHERWISE))
    if ABOUT_EDITS:
        workflow.ruleorder("unpack_release", *ABOUT_EDITS.values())
