"""Stability, leave-one-family-out, partial coefficients, clusters and weighted accuracy against outside judges."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from beyondqa.items import Score
from beyondqa.metrics.base import Metric
from beyondqa.records import scores_frame
from beyondqa.statistics.against import accuracy_correlations, against, by_task, weighted_accuracy
from beyondqa.statistics.aggregation import MEANS_COLUMNS
from beyondqa.statistics.clusters import co_clustering
from beyondqa.statistics.matrices import analyse_metrics, comparable
from beyondqa.statistics.robustness import detectable, is_weak, leave_one_family_out, partial_correlation
from beyondqa.statistics.stability import disattenuated, half_splits, ranking_stability

RANDOM = np.random.default_rng(21)


def categorical(scores):
    frame = scores_frame(scores)
    return frame.assign(
        **{c: frame[c].astype("category") for c in ("benchmark", "item_id", "model", "metric", "flags")}
    )


def simulated(n_models=10, n_items=40, metric="rouge1", spread=0.1, noise=0.3, seed=0):
    random = np.random.default_rng(seed)
    quality = random.normal(0, spread, n_models)
    rows = []
    for m in range(n_models):
        for i in range(n_items):
            value = float(0.5 + quality[m] + random.normal(0, noise))
            rows.append(Score(f"i{i:03}", "b", f"m{m:02}", "greedy", 0, metric, value))
    return rows


def means(rows):
    frame = pd.DataFrame(rows)
    defaults = {"n": 10, "transform": "identity", "higher_is_better": True, "headline": True, "stand_in": ""}
    for name in MEANS_COLUMNS:
        if name not in frame:
            frame[name] = defaults.get(name, "")
    return frame


def test_partial_correlation_is_that_of_a_regression():
    given = RANDOM.normal(size=11)
    x, y = 0.5 * given + RANDOM.normal(size=11), -0.7 * given + RANDOM.normal(size=11)
    r, p, reason = partial_correlation(x, y, given)
    # The t of x in y ~ x + given has n - 3 degrees of freedom and t = r sqrt((n-3)/(1-r^2)).
    fit = sm.OLS(y, sm.add_constant(np.column_stack([x, given]))).fit()
    assert reason == ""
    assert p == pytest.approx(fit.pvalues[1])
    assert r == pytest.approx(fit.tvalues[1] / np.sqrt(fit.tvalues[1] ** 2 + fit.df_resid))


def test_partial_correlation_has_its_limits():
    x = np.arange(6.0)
    assert partial_correlation(x[:4], x[:4] ** 2, x[:4] ** 3)[2] == "n = 4: no partial coefficient below 5"
    assert partial_correlation(x, x**2, 2 * x + 1)[2] == "a column is a function of the third"
    assert partial_correlation(x, x**2, np.ones(6))[2] == "a column is constant"


def test_what_eleven_models_could_have_seen():
    assert detectable(11) == pytest.approx(0.76, abs=0.005)
    assert detectable(3) is None
    random = np.random.default_rng(3)
    r = detectable(11)
    draws = random.normal(size=(4000, 2, 11))
    draws[:, 1] = r * draws[:, 0] + np.sqrt(1 - r**2) * draws[:, 1]
    power = np.mean([stats.pearsonr(x, y).pvalue < 0.05 for x, y in draws])
    assert power == pytest.approx(0.8, abs=0.04)


def test_absence_needs_a_narrow_interval():
    assert is_weak(-0.2, 0.25)
    assert not is_weak(-0.5, 0.6)  # wide: says nothing
    assert not is_weak(None, None)


def test_left_out_families_are_the_coefficients_of_the_rest():
    values = pd.DataFrame(RANDOM.normal(size=(8, 3)), columns=list("abc"), index=[f"m{i}" for i in range(8)])
    values.loc["m7", "c"] = np.nan
    families = {f"m{i}": "one" if i < 3 else "two" if i < 7 else "" for i in range(8)}
    frame = leave_one_family_out(values, families).set_index(["a", "b", "left_out"])
    rest = values.loc["m3":"m6"]
    assert frame.loc[("a", "c", "one"), "pearson"] == pytest.approx(stats.pearsonr(rest["a"], rest["c"]).statistic)
    assert frame.loc[("a", "b", "one"), "n"] == 5
    assert frame.loc[("a", "b", "one"), "spearman"] == pytest.approx(
        stats.spearmanr(values.loc["m3":, "a"], values.loc["m3":, "b"]).statistic
    )
    assert frame.loc[("a", "c", "two"), "reason"] == "n = 3: no coefficient below 4"
    assert set(frame.index.get_level_values("left_out")) == {"one", "two"}


def test_halves_are_halves():
    halves = half_splits(9, None, splits=400, seed=1)
    assert set(halves.sum(axis=1)) == {4.0, 5.0}
    assert halves.mean() == pytest.approx(0.5, abs=0.02)
    strata = np.array([0, 0, 0, 0, 1, 1])
    assert (half_splits(6, strata, splits=50, seed=1)[:, 4:].sum(axis=1) == 1).all()


def test_reliability_is_that_of_classical_test_theory():
    rows = simulated(n_models=60, n_items=50, spread=0.1, noise=0.5, seed=5)
    found = ranking_stability(categorical(rows), {"rouge1": Metric("rouge1", "R", True, 0, 1)}, {}, seed=1, splits=300)
    # Variance of true means over variance of observed means.
    assert found.loc[0, "reliability"] == pytest.approx(0.1**2 / (0.1**2 + 0.5**2 / 50), abs=0.09)
    assert found.loc[0, "n_models"] == 60


def test_mean_kendall_is_that_of_scipy():
    rows = simulated(n_models=6, n_items=11, seed=6)
    frame = categorical(rows)
    found = ranking_stability(frame, {"rouge1": Metric("rouge1", "R", True, 0, 1)}, {}, seed=1, splits=40)
    from beyondqa.identity import derived_seed

    wide = frame.pivot(index="item_id", columns="model", values="value").to_numpy()
    halves = half_splits(11, None, splits=40, seed=derived_seed(1, "halves", "b")).astype(bool)
    taus = [stats.kendalltau(wide[h].mean(axis=0), wide[~h].mean(axis=0)).statistic for h in halves]
    assert found.loc[0, "mean_kendall"] == pytest.approx(np.mean(taus))


def test_equal_scores_have_no_stability_and_say_why():
    rows = [Score(f"i{i}", "b", f"m{m}", "greedy", 0, "rouge1", 0.5) for i in range(6) for m in range(5)]
    found = ranking_stability(categorical(rows), {"rouge1": Metric("rouge1", "R", True, 0, 1)}, {}, seed=1, splits=20)
    assert np.isnan(found.loc[0, "reliability"])
    assert "all models are equal" in found.loc[0, "reason"]


def test_disattenuation_is_spearmans_formula_or_nothing():
    assert disattenuated(0.5, 0.8, 0.9) == (pytest.approx(0.5 / np.sqrt(0.72)), "")
    assert disattenuated(0.5, 0.8, 0.49) == (None, "a reliability is below 0.5")
    assert disattenuated(None, 0.8, 0.9)[0] is None


def test_clusters_follow_the_blocks():
    base = RANDOM.normal(size=(12, 3))
    values = pd.DataFrame(
        {f"{block}{i}": base[:, b] + 0.05 * RANDOM.normal(size=12) for b, block in enumerate("xyz") for i in range(2)}
    )
    found = co_clustering(values, seed=1, draws=100)
    within = found["a"].str[0] == found["b"].str[0]
    assert (found.loc[within, "cluster_a"] == found.loc[within, "cluster_b"]).all()
    assert (found.loc[~within, "cluster_a"] != found.loc[~within, "cluster_b"]).all()
    assert found.loc[within, "together"].min() > 0.9
    assert found["n_draws"].unique().tolist() == [100]


def test_too_few_models_are_not_drawn_from():
    values = pd.DataFrame(RANDOM.normal(size=(5, 5)))
    found = co_clustering(values, seed=1)
    assert found["together"].isna().all()
    assert found["reason"].unique().tolist() == ["n = 5 models: too few to draw from"]


def test_weighted_accuracy_is_the_published_average():
    # arXiv 2505.04388, table 9: MultiMedQA 63.79 is the question-count weighted mean of these (PubMedQA implied: 76.2).
    published = {"medmcqa": (59.22, 4183), "medqa": (63.71, 1273), "pubmedqa": (76.2, 500), "mmlu": (75.72, 1089)}
    rows = [
        {"model": "llama", "benchmark": b, "metric": "accuracy", "mean": value / 100, "n": n}
        for b, (value, n) in published.items()
    ]
    rows.append({"model": "incomplete", "benchmark": "medqa", "metric": "accuracy", "mean": 0.5, "n": 1273})
    accuracy = weighted_accuracy(means(rows))
    assert accuracy["llama"] == pytest.approx(0.6379, abs=5e-5)
    assert "incomplete" not in accuracy


def test_lower_is_better_changes_its_sign_against_accuracy_and_perplexity_its_scale():
    values = pd.Series({f"m{i}": float(i) for i in range(6)})
    perplexity = {f"m{i}": 100 * np.exp(-0.5 * i + 0.1 * (-1) ** i) for i in range(6)}
    rows = [
        {
            "model": m,
            "benchmark": "b",
            "metric": "word_perplexity",
            "mean": p,
            "transform": "exp",
            "higher_is_better": False,
        }
        for m, p in perplexity.items()
    ]
    found = against(values, means(rows))
    expected = stats.pearsonr(values, -np.log(list(perplexity.values()))).statistic
    assert found.loc[0, "pearson"] == pytest.approx(expected)
    assert found.loc[0, "pearson"] > 0.9


def test_a_task_is_the_mean_of_its_benchmarks():
    rows = pd.DataFrame(
        {
            "benchmark": ["b1", "b2", "b3"],
            "metric": "m",
            "label": "M",
            "pearson": [0.2, 0.6, np.nan],
            "pearson_q": [0.01, 0.2, np.nan],
            "n": [9, 8, 3],
        }
    )
    cell = by_task(rows, {"b1": "t", "b2": "t", "b3": "t"}).iloc[0]
    assert (cell["pearson"], cell["n_benchmarks"], cell["significant"]) == (pytest.approx(0.4), 2, 1)


def test_families_are_left_out_of_the_accuracy_correlations():
    models = [f"m{i}" for i in range(7)]
    accuracy, rouge = RANDOM.random(7), RANDOM.random(7)
    rows = [
        {"model": m, "benchmark": "medqa", "metric": "accuracy", "mean": a}
        for m, a in zip(models, accuracy, strict=True)
    ]
    rows += [{"model": m, "benchmark": "b", "metric": "rouge1", "mean": r} for m, r in zip(models, rouge, strict=True)]
    sizes = dict.fromkeys(models, 7.0) | {"m6": 70.0}
    families = dict.fromkeys(models, "x") | {"m0": "y"}
    found = accuracy_correlations(means(rows), ["medqa"], sizes, families).set_index(["models", "left_out"])
    assert found.loc[("all", ""), "pearson"] == pytest.approx(stats.pearsonr(accuracy, rouge).statistic)
    assert found.loc[("smaller", ""), "pearson"] == pytest.approx(stats.pearsonr(accuracy[:6], rouge[:6]).statistic)
    assert found.loc[("all", "y"), "n"] == 6


def test_one_model_alone_gives_reasons_and_no_crash():
    found = analyse_metrics(
        categorical(simulated(n_models=1) + simulated(n_models=1, metric="bleu")),
        {name: Metric(name, name, True, 0, 1) for name in ("rouge1", "bleu")},
        {},
        {"m00": "x"},
        seed=1,
        draws=10,
        splits=10,
    )
    assert found.pairs.loc[0, "reason"] == "n = 1: no coefficient below 4"
    assert len(found.clusters) == 1
    assert len(json.dumps(found.stability["reason"].tolist()))


def test_item_interval_is_wider_where_items_are_few():
    widths = {}
    for n_items in (20, 500):
        rows = simulated(n_models=8, n_items=n_items, seed=9)
        rows += [
            dataclasses.replace(row, metric="bleu", value=row.value + float(RANDOM.normal(0, 0.5))) for row in rows
        ]
        metrics = {name: Metric(name, name, True, 0, 1) for name in ("rouge1", "bleu")}
        pair = analyse_metrics(categorical(rows), metrics, {}, {}, seed=1, draws=200, splits=10).pairs.iloc[0]
        assert pair["pearson_items_low"] < pair["pearson"] < pair["pearson_items_high"]
        widths[n_items] = pair["pearson_items_high"] - pair["pearson_items_low"]
    assert widths[500] < widths[20] / 2


def test_perplexities_are_compared_as_logarithms():
    frame = means(
        [{"model": "m", "benchmark": "b", "metric": "w", "mean": 20.0, "transform": "exp", "higher_is_better": False}]
    )
    assert comparable(frame, oriented=False).iloc[0] == pytest.approx(np.log(20))
    assert comparable(frame, oriented=True).iloc[0] == pytest.approx(-np.log(20))


def test_relaxed_perplexities_are_correlated_on_the_scale_of_the_others():
    models = range(7)
    relaxed, rouge = np.exp(RANDOM.normal(3, 2, 7)), RANDOM.random(7)
    name = "relaxed_perplexity[must_have,n32]"
    scores = [Score(f"i{i}", "b", f"m{m}", "relaxed", 0, name, float(relaxed[m])) for m in models for i in range(4)]
    scores += [Score(f"i{i}", "b", f"m{m}", "greedy", 0, "rouge1", float(rouge[m])) for m in models for i in range(4)]
    metrics = {name: Metric(name, "Relaxed", False, None, None), "rouge1": Metric("rouge1", "R", True, 0, 1)}
    pair = analyse_metrics(categorical(scores), metrics, {}, {}, seed=1, draws=5, splits=5).pairs.iloc[0]
    assert pair["pearson"] == pytest.approx(stats.pearsonr(np.log(relaxed), rouge).statistic)
    frame = means([{"model": "m", "benchmark": "b", "metric": name, "mean": 20.0}])
    assert comparable(frame, oriented=False).iloc[0] == pytest.approx(np.log(20))
