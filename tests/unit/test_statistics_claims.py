"""Verdicts on the papers' claims: each on a run made to support it, to contradict it, and to leave it open."""

import math

import numpy as np
import pandas as pd
import pytest

from beyondqa.metrics.base import Metric
from beyondqa.records import write_csv, write_parquet
from beyondqa.statistics import claims
from beyondqa.statistics.claims import CLAIMS, HELD, NOT_HELD, UNDECIDED, all_or_one, verdict_on
from beyondqa.statistics.inputs import Inputs
from beyondqa.statistics.scores import metrics_metadata

MODELS = {f"m{i}": {"label": f"m{i}", "derived_from": ""} for i in range(12)}
BENCHMARKS = {
    name: {"title": name, "task": task, "kind": kind}
    for name, task, kind in [
        ("medqa", "multiple_choice", "multiple_choice"),
        ("medmcqa", "multiple_choice", "multiple_choice"),
        ("careqa", "multiple_choice", "multiple_choice"),
        ("mmlu", "multiple_choice", "multiple_choice"),
        ("pubmedqa", "multiple_choice", "multiple_choice"),
        ("aci_bench", "note_taking", "open"),
        ("mts_dialog", "note_taking", "open"),
        ("mimic_hospital_course", "summarization", "open"),
        ("medical_transcriptions", "text_classification", "multiple_choice"),
        ("olaph", "factuality", "open"),
        ("medtext", "diagnosis_treatment", "open"),
        ("mediqa2019", "open_questions", "open"),
        ("careqa_open", "open_questions", "open"),
    ]
}
REAL = ("bleu[evaluate]", "rouge1[nostem]", "rouge2[nostem]", "rougeL[nostem]", "meteor[nltk]", "bertscore_f1[r]")
REAL += ("moverscore[d]", "bleurt[b]", "judge[prometheus]")


@pytest.fixture
def inputs(tmp_path):
    """Inputs over frames (one CSV each) and dispersions (one Parquet each, with the metrics' descriptions)."""

    def made(*, models=MODELS, groups=None, elo=None, stand_ins=(), **frames):
        files = {}
        for need, frame in frames.items():
            if need in ("resilience", "self_consistency"):
                metrics = {
                    name: Metric(name, name, True, 0.0, 1.0, stand_in="real" if name in stand_ins else "")
                    for name in frame["metric"].unique()
                }
                path = tmp_path / f"{need}.parquet"
                write_parquet(path, frame, metrics_metadata(metrics))
            else:
                path = tmp_path / f"{need}.csv"
                write_csv(path, frame)
            files[need] = [path]
        (tmp_path / "elo").mkdir(exist_ok=True)
        write_csv(tmp_path / "elo" / "e.csv", pd.DataFrame(list((elo or {}).items()), columns=["model", "elo"]))
        return Inputs(
            {**files, "resources": [tmp_path / "elo" / "e.csv"]}, models, BENCHMARKS, [], groups or {}, seed=1
        )

    return made


def verdict(name, inputs):
    (claim,) = [claim for claim in CLAIMS if claim.name == name]
    return verdict_on(claim, inputs).verdict


def coefficients(rows):
    """Rows of (benchmark, metric, low, high) as accuracy correlations."""
    frame = pd.DataFrame(rows, columns=["benchmark", "metric", "pearson_low", "pearson_high"])
    return frame.assign(
        pearson=frame[["pearson_low", "pearson_high"]].mean(axis=1), left_out="", stand_in="", label="", reason=""
    )


def dispersions(levels, n=40, benchmark="mediqa2019"):
    """Dispersion rows in which a metric's variance is its level, give or take a tenth."""
    random = np.random.default_rng(1)
    rows = [
        {
            "benchmark": benchmark,
            "model": "m0",
            "metric": metric,
            "item_id": f"i{i:02}",
            "reason": "",
            "variance": value,
        }
        for metric, level in levels.items()
        for i, value in enumerate(level * random.uniform(0.9, 1.1, n))
    ]
    frame = pd.DataFrame(rows)
    return frame.assign(variance_by_squared_range=frame["variance"])


def test_one_stray_interval_of_many_is_chance_and_two_of_three_are_not():
    # Binomial tail with 1/40 a trial: 1 of 22 has probability .43, 2 of 3 has .0018, 1 of 1 has .025.
    assert all_or_one(20, 1, 22) == UNDECIDED
    assert all_or_one(1, 2, 3) == NOT_HELD
    assert all_or_one(0, 1, 1) == NOT_HELD
    assert all_or_one(3, 0, 3) == HELD
    assert all_or_one(2, 0, 3) == UNDECIDED
    assert all_or_one(0, 0, 0) == UNDECIDED


def test_signs_of_tasks_against_accuracy(inputs):
    def run(notes, summaries):
        rows = coefficients([("aci_bench", "rouge1", *notes), ("mimic_hospital_course", "rouge1", *summaries)])
        rows = pd.concat([rows, coefficients([("medical_transcriptions", "accuracy", 0.4, 0.9)])])
        return verdict("C1", inputs(accuracy_correlations=rows.assign(models="smaller")))

    assert run((0.1, 0.6), (-0.9, -0.2)) == HELD  # Medical Transcriptions is the claim's own exception
    assert run((0.1, 0.6), (-0.2, 0.7)) == UNDECIDED
    assert run((-0.8, -0.1), (0.2, 0.9)) == NOT_HELD


def test_weakness_needs_narrow_intervals_and_real_metrics(inputs):
    def run(low, high, **changes):
        rows = coefficients([("aci_bench", m, low, high) for m in ("rouge1[nostem]", "bleu[evaluate]")])
        return verdict("C2", inputs(accuracy_correlations=rows.assign(models="all", **changes)))

    assert run(-0.2, 0.25) == HELD
    assert run(-0.5, 0.6) == UNDECIDED
    assert run(0.4, 0.9) == NOT_HELD
    assert run(-0.2, 0.25, stand_in="x") == UNDECIDED


def test_consistent_pairs_of_benchmarks(inputs):
    def run(lows, highs):
        frame = pd.DataFrame({"metric": ["rouge1", "bleu[e]"], "a": "aci_bench", "b": "mts_dialog", "stand_in": ""})
        frame = frame.assign(pearson_low=lows, pearson_high=highs, pearson=highs, label="", reason="")
        return verdict("C3", inputs(benchmark_correlations=frame))

    assert run([0.8, 0.1], [0.95, 0.6]) == HELD
    assert run([0.8, 0.75], [0.95, 0.9]) == NOT_HELD
    assert run([0.3, 0.2], [0.95, 0.9]) == UNDECIDED


def test_three_clusters_are_these_three(inputs):
    def run(numbers, stand_in=""):
        names = list(numbers)
        pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
        frame = pd.DataFrame(
            [{"a": a, "b": b, "cluster_a": numbers[a], "cluster_b": numbers[b]} for a, b in pairs]
        ).assign(benchmark="medtext", together=1.0, reason="")
        means = pd.DataFrame({"metric": names, "benchmark": "medtext", "model": "m0"})
        means["stand_in"] = [stand_in if name.startswith("judge") else "" for name in names]
        return verdict("C4", inputs(clusters=frame, means=means))

    papers = {"word_perplexity": 1, "byte_perplexity": 1, "judge[prometheus]": 2, "rouge1": 3, "bleurt[b]": 3}
    assert run(papers) == HELD
    assert run({**papers, "judge[prometheus]": 3, "byte_perplexity": 2}) == NOT_HELD
    assert run(papers, stand_in="prometheus") == UNDECIDED


def test_resilience_compares_every_low_metric_with_every_high_one(inputs):
    papers = {name: 0.1 for name in REAL if name.startswith(("bleu[", "rouge", "moverscore"))}
    papers |= {name: 0.3 for name in ("bertscore_f1[r]", "bleurt[b]", "judge[prometheus]")}
    assert verdict("C5", inputs(resilience=dispersions(papers))) == HELD
    assert verdict("C5", inputs(resilience=dispersions({**papers, "bleurt[b]": 0.01}))) == NOT_HELD
    assert verdict("C5", inputs(resilience=dispersions({**papers, "bleurt[b]": 0.1}))) == UNDECIDED
    without = {name: level for name, level in papers.items() if not name.startswith("judge")}
    assert verdict("C5", inputs(resilience=dispersions(without))) == UNDECIDED
    assert verdict("C5", inputs(resilience=dispersions(papers), stand_ins=["bertscore_f1[r]"])) == UNDECIDED


def test_bleurt_is_no_bleu(inputs):
    """ "bleu" begins "bleurt" as well: among the n-gram metrics a large variance of BLEURT says nothing."""
    levels = {"bleu[evaluate]": 0.1, "rouge2[nostem]": 0.1, "rouge1[nostem]": 0.3, "rougeL[nostem]": 0.3}
    levels |= {"meteor[nltk]": 0.3, "bleurt[b]": 9.0}
    held, not_held = (dispersions({**levels, "bleu[evaluate]": level}, benchmark="careqa_open") for level in (0.1, 0.9))
    assert verdict("C6a", inputs(self_consistency=held)) == HELD
    assert verdict("C6a", inputs(self_consistency=not_held)) == NOT_HELD


def test_resilience_is_about_the_benchmark_of_the_paper(inputs):
    """The same rephrasings of another benchmark's answers say the opposite and change nothing."""
    papers = {name: 0.1 for name in REAL if name.startswith(("bleu[", "rouge", "moverscore"))}
    papers |= {name: 0.3 for name in ("bertscore_f1[r]", "bleurt[b]", "judge[prometheus]")}
    other = dispersions({name: 0.4 - level for name, level in papers.items()}, n=400, benchmark="medtext")
    assert verdict("C5", inputs(resilience=pd.concat([dispersions(papers), other]))) == HELD
    assert verdict("C5", inputs(resilience=other)) == UNDECIDED


def test_an_item_that_a_judge_could_not_judge_leaves_the_judge_in(inputs):
    papers = {name: 0.1 for name in REAL if name.startswith(("bleu[", "rouge", "moverscore"))}
    frame = dispersions({**papers, "bertscore_f1[r]": 0.3, "bleurt[b]": 0.3, "judge[prometheus]": 0.01})
    unjudged = (frame["metric"] == "judge[prometheus]") & (frame["item_id"] == "i00")
    frame.loc[unjudged, ["variance", "variance_by_squared_range"]] = np.nan
    assert verdict("C5", inputs(resilience=frame)) == NOT_HELD
    everywhere = frame["metric"] == "judge[prometheus]"
    frame.loc[everywhere, ["variance", "variance_by_squared_range"]] = np.nan
    assert verdict("C5", inputs(resilience=frame)) == UNDECIDED


def accuracies(noise):
    """Accuracies of twelve models on the five benchmarks: one ability, and noise for each benchmark."""
    random = np.random.default_rng(3)
    ability = random.normal(size=12)
    rows = [
        {"model": f"m{i}", "benchmark": b, "metric": "accuracy", "mean": value, "n": 100, "stand_in": ""}
        for b, scale in noise.items()
        for i, value in enumerate(ability + scale * random.normal(size=12))
    ]
    return ability, pd.DataFrame(rows)


def test_multiple_choice_benchmarks_agree_and_pubmedqa_stands_apart(inputs):
    groups = {"small_elo": list(MODELS), "medium_elo": []}
    _, alike = accuracies({"medqa": 0.05, "medmcqa": 0.05, "careqa": 0.05, "mmlu": 0.05, "pubmedqa": 0.05})
    assert verdict("C7a", inputs(means=alike, groups=groups)) == HELD
    assert verdict("C7b", inputs(means=alike, groups=groups)) == NOT_HELD
    _, apart = accuracies({"medqa": 0.05, "medmcqa": 0.05, "careqa": 0.05, "mmlu": 0.05, "pubmedqa": 50})
    assert verdict("C7b", inputs(means=apart, groups=groups)) == HELD
    few = {"small_elo": list(MODELS)[:4], "medium_elo": []}
    assert verdict("C7b", inputs(means=apart, groups=few)) == UNDECIDED


def test_elo_is_compared_by_fishers_z(inputs):
    ability, frame = accuracies({"medqa": 0.01})
    groups = {"small_elo": list(MODELS)[:6], "medium_elo": list(MODELS)[6:]}
    random = np.random.default_rng(4)
    small = dict(zip(groups["small_elo"], random.normal(size=6), strict=True))
    medium = dict(zip(groups["medium_elo"], ability[6:] + 0.01 * random.normal(size=6), strict=True))
    assert verdict("C7c", inputs(means=frame, groups=groups, elo=small | medium)) == HELD
    swapped = {"small_elo": groups["medium_elo"], "medium_elo": groups["small_elo"]}
    assert verdict("C7c", inputs(means=frame, groups=swapped, elo=small | medium)) == NOT_HELD
    assert verdict("C7c", inputs(means=frame, groups=groups, elo={})) == UNDECIDED


def test_tuned_models_by_rank_sums(inputs):
    models = {name: {"label": name, "derived_from": ""} for name in (*claims.TUNED, *(f"m{i}" for i in range(8)))}

    def run(relaxed, plain):
        rows = [
            {"model": model, "benchmark": "olaph", "metric": metric, "mean": value, "headline": True, "stand_in": ""}
            for metric, values in (("relaxed_perplexity[must_have]", relaxed), ("word_perplexity", plain))
            for model, value in zip(models, values, strict=True)
        ]
        return verdict("C8", inputs(models=models, means=pd.DataFrame(rows)))

    lowest, mixed = range(11), [5, 9, 1, 2, 3, 4, 6, 7, 8, 10, 11]
    assert run(lowest, mixed) == HELD
    assert run(mixed, lowest) == NOT_HELD
    assert run(lowest, lowest) == UNDECIDED


def test_entity_coverage_on_every_benchmark(inputs):
    def run(lows, **changes):
        frame = pd.DataFrame({"metric": "entqa_b[x]", "spearman": 0.5, "spearman_low": lows, "spearman_high": 0.9})
        frame = frame.assign(label="", stand_in="", headline=True, benchmark="b").assign(**changes)
        return verdict("E1", inputs(entqa_group_level=frame))

    assert run([0.1, 0.2]) == HELD
    assert run([0.1, -0.2]) == UNDECIDED
    assert run([0.1, 0.2], stand_in="Linq-Embed-Mistral") == UNDECIDED
    assert run([-0.9, -0.9], spearman_high=-0.1) == NOT_HELD


def test_derived_models_decide_nothing(inputs):
    ladder = {m: {"label": m, "derived_from": "" if m == "m0" else "m0"} for m in MODELS}
    rows = coefficients([("aci_bench", "rouge1[nostem]", -0.2, 0.2)]).assign(models="all")
    assert verdict("C2", inputs(accuracy_correlations=rows)) == HELD
    assert verdict("C2", inputs(accuracy_correlations=rows, models=ladder)) == UNDECIDED
    assert verdict("C6c", inputs(models=ladder)) == HELD


def test_an_empty_run_decides_what_is_true_by_construction_alone(inputs):
    decided = {claim.name for claim in CLAIMS if verdict_on(claim, inputs()).verdict != UNDECIDED}
    assert decided == {"C6c"}


def test_numbers_behind_a_verdict_are_in_words(inputs):
    rows = coefficients([("aci_bench", "rouge1[nostem]", -0.2, 0.24)]).assign(models="all")
    found = verdict_on(CLAIMS[1], inputs(accuracy_correlations=rows))
    assert found.result == "1 of 1 intervals within ±0.3, 0 beyond; mean |r| 0.02"
    assert not math.isnan(rows["pearson"].iloc[0])
