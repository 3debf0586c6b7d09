"""Analyses of recorded answers and published scores of real systems, judged by scipy, numpy and the sources."""

import csv
import gzip
import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beyondqa import figures
from beyondqa.items import Score
from beyondqa.metrics.base import Metric
from beyondqa.records import scores_frame, write_csv, write_parquet
from beyondqa.statistics.against import weighted_accuracy
from beyondqa.statistics.aggregation import means
from beyondqa.statistics.correlation import correlation_matrix
from beyondqa.statistics.dispersion import dispersion
from beyondqa.statistics.inputs import Inputs
from beyondqa.statistics.scores import metrics_metadata, read_with_metrics

ACCURACY = Metric("accuracy[generated]", "Accuracy (generated)", True, 0.0, 1.0, floor=0.0, headline=False)
# Accuracies in percent as the source's description lists them: medmcqa, mmlu, pubmedqa.
MEDAGENTS = {
    "DeepSeek-R1": (81.85, 95.04, 76.20),
    "DeepSeek-V3": (74.29, 89.72, 73.60),
    "Llama-3.3-70B-Instruct-Turbo": (71.38, 85.22, 77.80),
    "QwQ-32B-Preview": (67.65, 86.87, 77.20),
    "claude-3-5-haiku": (62.89, 79.71, 73.80),
    "claude-3-5-sonnet": (68.81, 86.95, 76.40),
    "gpt-4o": (76.60, 91.28, 79.20),
    "gpt-4o-mini": (65.98, 84.30, 76.20),
    "o1-mini": (73.19, 90.73, 77.40),
    "o3-mini": (77.06, 93.39, 79.60),
}
SETS = ("medmcqa", "mmlu", "pubmedqa")
OLAPH = ("gemma-7b", "llama3-8b", "llama3-8b-instruct", "mistral-7b", "selfbiorag-7b")


@pytest.fixture(scope="module")
def aci(shared):
    """Published scores of 21 systems on ACI-Bench's second test set, by system and metric."""
    path = shared / "recorded/aci_bench_baselines/tables/test2.csv"
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if row]
    header = next(row for row in rows if row[0] == "Model")
    systems = {}
    for row in rows[rows.index(header) + 1 :]:
        if row[0] == "Model" or len(systems) == 21:
            break
        if len(row) == len(header) and row[1]:
            systems.setdefault(row[0], list(map(float, row[1:])))
    frame = pd.DataFrame(systems, index=header[1:]).T.drop(columns="average")
    assert frame.shape == (21, 6)
    return frame


def test_the_published_scores_of_21_systems_correlate_as_scipy_says(aci):
    pairs = correlation_matrix(aci).set_index(["a", "b"])
    assert len(pairs) == 15
    for (a, b), row in pairs.iterrows():
        for name, judge in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
            assert row[name] == pytest.approx(judge(aci[a], aci[b]).statistic), (a, b, name)
        assert (row["n"], row["p_kind"]) == (21, "asymptotic")
    q = stats.false_discovery_control([stats.pearsonr(aci[a], aci[b]).pvalue for a, b in pairs.index])
    assert pairs["pearson_q"].to_numpy() == pytest.approx(q)


def test_figure_18_ranks_21_systems_as_pandas_does(aci, tmp_path):
    long = aci.reset_index(names="model").melt("model", var_name="metric", value_name="mean")
    long = long.assign(
        benchmark="aci",
        label=long["metric"],
        headline=True,
        higher_is_better=True,
        stand_in="",
        n=40,
        ci_low=0.0,
        ci_high=0.0,
    )
    write_csv(tmp_path / "means.csv", long)
    models = {name: {"label": name, "derived_from": ""} for name in aci.index}
    benchmark = {"aci": {"title": "ACI-Bench", "task": "note_taking", "kind": "open"}}
    drawing = figures.get("figure18", "aci", "ACI-Bench").draw(
        Inputs({"means": [tmp_path / "means.csv"]}, models, benchmark)
    )
    ranks = drawing.data.pivot(index="model", columns="metric", values="rank")
    expected = aci.rank(ascending=False, method="average")
    pd.testing.assert_frame_equal(ranks.loc[expected.index, expected.columns], expected, check_names=False)
    # Read off the published table: BART+FT_SAMSum (Division) has the best BERTScore, GPT-4 no first place.
    assert ranks.loc["BART+FT$_{\\mathrm{SAMSum}}$ (Division)", "BERTScore"] == 1
    assert ranks.loc["GPT-4"].min() > 1


@pytest.fixture(scope="module")
def medagents(shared, tmp_path_factory):
    """Right or wrong for every recorded answer of ten models to three sets, as score files."""
    folder = shared / "recorded/medagents_benchmark_zero_shot"
    path = tmp_path_factory.mktemp("medagents") / "scores.parquet"
    rows = []
    for name in SETS:
        for model in MEDAGENTS:
            with gzip.open(folder / name / f"{model}-{name}-test-zero_shot.json.gz") as file:
                answers = json.load(file)
            rows += [
                Score(
                    f"{name}:{a['realidx']}",
                    name,
                    model,
                    "greedy",
                    0,
                    ACCURACY.name,
                    float(a["predicted_answer"] == a["answer_idx"]),
                )
                for a in answers
            ]
    write_parquet(path, scores_frame(rows), metrics_metadata({ACCURACY.name: ACCURACY}))
    return means(*read_with_metrics([path]), {}, seed=1, draws=500)


def test_means_of_recorded_answers_are_the_source_s_accuracies(medagents):
    found = medagents.set_index(["model", "benchmark"])["mean"]
    for model, accuracies in MEDAGENTS.items():
        for name, percent in zip(SETS, accuracies, strict=True):
            assert 100 * found[model, name] == pytest.approx(percent, abs=0.005), (model, name)


def test_intervals_of_recorded_answers_have_the_binomial_width(medagents):
    row = medagents.set_index(["model", "benchmark"]).loc[("gpt-4o", "medmcqa")]
    error = np.sqrt(row["mean"] * (1 - row["mean"]) / row["n"])
    assert row["ci_high"] - row["ci_low"] == pytest.approx(2 * 1.96 * error, rel=0.12)


def test_figure_8_on_recorded_answers_is_scipys(medagents, tmp_path, root):
    write_csv(tmp_path / "means.csv", medagents)
    models = {name: {"label": name, "derived_from": ""} for name in MEDAGENTS}
    benchmarks = {n: {"title": n, "task": "multiple_choice", "kind": "multiple_choice"} for n in SETS}
    files = {"means": [tmp_path / "means.csv"], "resources": [root / "resources/elo/chatbot_arena_2024-10-15.csv"]}
    drawing = figures.get("figure08").draw(Inputs(files, models, benchmarks, groups={"small_elo": list(MEDAGENTS)}))
    accuracies = np.array(list(MEDAGENTS.values())).T
    drawn = drawing.data.set_index(["a", "b"])
    for i, j in ((0, 1), (0, 2), (1, 2)):
        row = drawn.loc[(SETS[i], SETS[j])]
        # The listed accuracies are rounded to two decimals.
        assert row["pearson"] == pytest.approx(stats.pearsonr(accuracies[i], accuracies[j]).statistic, abs=1e-3)
        assert row["n"] == 10
    # None of these ten is in the snapshot of ratings.
    assert drawn.loc[("medmcqa", "elo"), "n"] == 0


def test_weighted_accuracy_of_recorded_answers_is_that_of_all_answers(medagents):
    found = weighted_accuracy(medagents)
    right = medagents.assign(right=medagents["mean"] * medagents["n"]).groupby("model")[["right", "n"]].sum()
    # Weights are the largest counts; one model lacks one item in two of the sets.
    assert found["gpt-4o"] == pytest.approx((right["right"] / right["n"])["gpt-4o"])


@pytest.fixture(scope="module")
def olaph(shared):
    """Recorded ROUGE-1, BLEURT and BERTScore of six samples a question by five models, (model, question, sample)."""
    names = {
        "rouge1_f1": "rouge1[nostem]",
        "bleurt": "bleurt[BLEURT-20-D12]",
        "bert_score_f1": "bertscore_f1[roberta-large,L17]",
    }
    rows = []
    for model in OLAPH:
        path = shared / f"recorded/olaph_sampled_predictions/pdata_{model}_kqa_golden_sampling.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for i, line in enumerate(file):
                for k, sample in enumerate(json.loads(line)["prediction_scores"]):
                    rows += [
                        Score(f"kqa:{i}", "kqa", model, "sample", k, name, float(sample[field]))
                        for field, name in names.items()
                    ]
    return scores_frame(rows)


def test_self_consistency_of_recorded_samples_is_numpys(olaph, tmp_path):
    metrics = {
        "rouge1[nostem]": Metric("rouge1[nostem]", "ROUGE-1", True, 0.0, 1.0),
        "bleurt[BLEURT-20-D12]": Metric("bleurt[BLEURT-20-D12]", "BLEURT", True, None, None),
        "bertscore_f1[roberta-large,L17]": Metric("bertscore_f1[roberta-large,L17]", "BERTScore", True, -1.0, 1.0),
    }
    frame = dispersion(olaph, metrics)
    write_parquet(tmp_path / "d.parquet", frame, metrics_metadata(metrics))
    models = {name: {"label": name, "derived_from": ""} for name in OLAPH}
    benchmark = {"kqa": {"title": "K-QA golden", "task": "factuality", "kind": "open"}}
    inputs = Inputs({"self_consistency": [tmp_path / "d.parquet"]}, models, benchmark)
    drawn = figures.get("figure02").draw(inputs).data.set_index(["metric", "statistic"])
    for name in metrics:
        values = olaph[olaph["metric"] == name].pivot(index=["item_id", "index"], columns="model", values="value")
        cube = values.to_numpy().reshape(201, 6, 5)
        per_item = cube.var(axis=1).mean(axis=1)
        assert drawn.loc[(name, "variance"), "mean"] == pytest.approx(per_item.mean())
        assert drawn.loc[(name, "variance"), "q3"] == pytest.approx(np.quantile(per_item, 0.75))
        scaled = per_item / np.ptp(cube) ** 2
        assert drawn.loc[(name, "variance_by_squared_range"), "median"] == pytest.approx(np.median(scaled))
    assert drawn.loc[("bleurt[BLEURT-20-D12]", "coefficient_of_variation"), "n_items"] == 0
    rouge = olaph[olaph["metric"] == "rouge1[nostem]"].pivot(
        index=["item_id", "index"], columns="model", values="value"
    )
    cube = rouge.to_numpy().reshape(201, 6, 5)
    with np.errstate(invalid="ignore"):
        variation = np.nanmean(cube.std(axis=1) / cube.mean(axis=1), axis=1)
    assert drawn.loc[("rouge1[nostem]", "coefficient_of_variation"), "mean"] == pytest.approx(variation.mean())
