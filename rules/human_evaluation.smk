"""Human evaluation: `snakemake human_evaluation_sheets` writes the sheets, `human_evaluation` reads the filled ones."""

from beyondqa.human_evaluation import EVALUATIONS, TRANSLATION

HUMAN_EVALUATION = config["human_evaluation"]
# The step of the construction whose questions are judged.
JUDGED_STEPS = {"iteration_1": "selection", "iteration_2": "validation"}
SHEETS = [
    RESULTS + "/human_evaluation/{evaluation}/sheets/" + f"evaluator-{number:02}.csv"
    for number in range(1, HUMAN_EVALUATION["evaluators"] + 1)
]
# The two iterations are those of the set that the study rebuilds.
JUDGED = [name for name in EVALUATIONS if name == TRANSLATION or "careqa_open_construction" in config]


def human_evaluation_files(families, packs):
    """Summaries of the evaluations whose filled sheets the config names."""
    return [f"{RESULTS}/human_evaluation/{name}/summary.csv" for name in EVALUATIONS if name in HUMAN_EVALUATION["filled"]]


NEEDS["human_evaluation"] = human_evaluation_files


rule write_human_evaluation_sheets:
    input:
        careqa=CAREQA_FILE,
        spanish=lambda w: dataset_files(["careqa_es"] if w.evaluation == TRANSLATION and "careqa_es" in STUDY.benchmarks else []),
        decisions=lambda w: [f"{RESULTS}/careqa_open/{JUDGED_STEPS[w.evaluation]}.jsonl"] if w.evaluation in JUDGED_STEPS else [],
        library=library("human_evaluation.py"),
    output:
        sample=RESULTS + "/human_evaluation/{evaluation}/sample.csv",
        sheets=SHEETS,
    log:
        RESULTS + "/logs/human_evaluation/{evaluation}/sheets.log",
    benchmark:
        RESULTS + "/benchmarks/human_evaluation/{evaluation}/sheets.tsv"
    wildcard_constraints:
        evaluation=one_of(EVALUATIONS),
    conda:
        "../envs/analysis.yaml"
    params:
        evaluators=HUMAN_EVALUATION["evaluators"],
        raters=HUMAN_EVALUATION["raters"],
        confidence=HUMAN_EVALUATION["confidence"],
        margin=HUMAN_EVALUATION["margin"],
        seed=config["study"]["seed"],
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    script:
        "../workflow/scripts/human_evaluation_sheets.py"


rule summarise_human_evaluation:
    input:
        sample=RESULTS + "/human_evaluation/{evaluation}/sample.csv",
        sheets=lambda w: sorted(map(str, Path(HUMAN_EVALUATION["filled"][w.evaluation]).glob("*.csv"))),
        library=library("human_evaluation.py"),
    output:
        summary=RESULTS + "/human_evaluation/{evaluation}/summary.csv",
        judgements=RESULTS + "/human_evaluation/{evaluation}/judgements.csv",
    log:
        RESULTS + "/logs/human_evaluation/{evaluation}/summary.log",
    benchmark:
        RESULTS + "/benchmarks/human_evaluation/{evaluation}/summary.tsv"
    wildcard_constraints:
        evaluation=one_of(HUMAN_EVALUATION["filled"]),
    conda:
        "../envs/analysis.yaml"
    params:
        folder=lambda w: HUMAN_EVALUATION["filled"][w.evaluation],
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    script:
        "../workflow/scripts/human_evaluation_summary.py"


rule human_evaluation_sheets:
    input:
        expand(SHEETS, evaluation=JUDGED),


rule human_evaluation:
    input:
        human_evaluation_files([], []),
