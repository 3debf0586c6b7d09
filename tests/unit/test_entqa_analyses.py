"""EntQA's statistics on simulated answers, each against scipy, statsmodels or a plain resampling."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beyondqa.entqa import analyses
from beyondqa.statistics.aggregation import resamples

METRIC = "entqa_b[as_coded,x,y]"
SIZES = [0.5, 1.5, 3, 7, 14, 32, 72]


@pytest.fixture(scope="module")
def cases():
    """60 cases and 7 models: harder cases, better models, and a metric that follows both and the length."""
    random = np.random.default_rng(7)
    hard = random.normal(size=60)
    rows = []
    for i in range(60):
        for skill, size in enumerate(SIZES):
            length = int(random.integers(20, 400))
            right = random.random() < 1 / (1 + np.exp(hard[i] - 0.4 * skill))
            value = 0.3 + 0.1 * hard[i] + 0.02 * skill + 0.1 * right + 0.0005 * length + random.normal(0, 0.1)
            rows.append(("b", f"c{i}", f"m{size}", size, float(right), float(length), round(value, 2)))
    columns = ["benchmark", "item_id", "model", "size", "accuracy", "length", METRIC]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.assign(**{analyses.LENGTH: frame["length"]})


@pytest.fixture(scope="module")
def level(cases):
    return analyses.case_level(cases, seed=1).set_index("metric")


def test_group_level_is_scipy_s(cases):
    row = analyses.group_level(cases).set_index("metric").loc[METRIC]
    means = cases.groupby("model")[["accuracy", METRIC]].mean()
    assert row["n"] == 7
    assert row["spearman"] == pytest.approx(stats.spearmanr(*means.to_numpy().T).statistic)
    assert row["pearson_p_asymptotic"] == pytest.approx(stats.pearsonr(*means.to_numpy().T).pvalue)
    kendall = stats.kendalltau(*means.to_numpy().T, method="exact")
    assert (row["kendall"], row["kendall_p"]) == pytest.approx(tuple(kendall))


def test_point_biserial_is_scipy_s(cases, level):
    expected = stats.pointbiserialr(cases["accuracy"], cases[METRIC])
    row = level.loc[METRIC]
    assert (row["n"], row["n_cases"], row["n_models"], row["n_complete_cases"]) == (420, 60, 7, 60)
    assert (row["point_biserial"], row["p"]) == pytest.approx(tuple(expected))


@pytest.mark.parametrize(
    ("estimate", "controls"),
    [
        ("within_case", "C(item_id)"),
        ("within_model", "C(model)"),
        ("doubly_centred", "C(item_id) + C(model)"),
        ("given_length", "np.log1p(length)"),
    ],
)
def test_against_residuals_of_a_regression(cases, level, estimate, controls):
    """Frisch, Waugh, Lovell: the correlation of the residuals after regressing both sides on the controls."""
    import statsmodels.formula.api as smf

    data = cases.rename(columns={METRIC: "value"})
    x, y = (smf.ols(f"{side} ~ {controls}", data).fit().resid for side in ("value", "accuracy"))
    assert level.loc[METRIC, estimate] == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-10)


def test_intervals_against_a_plain_resampling_of_cases(cases):
    """Oracle: build each resample row by row and correlate it with pandas."""
    draws, seed = 60, 5
    row = analyses.case_level(cases, seed=seed, draws=draws).set_index("metric").loc[METRIC]
    parts = [part for _, part in cases.groupby("item_id", sort=True)]
    counts = resamples(60, None, draws=draws, seed=analyses.derived_seed(seed, "cases", "b"))
    found = {name: [] for name in analyses.ESTIMATES}
    for multiplicities in counts.astype(int):
        drawn = [part.assign(case=f"{i}-{k}") for i, part in enumerate(parts) for k in range(multiplicities[i])]
        sample = pd.concat(drawn, ignore_index=True)
        by_case = sample[[METRIC, "accuracy"]] - sample.groupby("case")[[METRIC, "accuracy"]].transform("mean")
        by_model = sample[[METRIC, "accuracy"]] - sample.groupby("model")[[METRIC, "accuracy"]].transform("mean")
        both = by_case - by_case.groupby(sample["model"]).transform("mean")
        z = np.log1p(sample["length"])
        rest = [s - np.polyval(np.polyfit(z, s, 1), z) for s in (sample[METRIC], sample["accuracy"])]
        for name, (a, b) in {
            "point_biserial": (sample[METRIC], sample["accuracy"]),
            "within_case": by_case.to_numpy().T,
            "within_model": by_model.to_numpy().T,
            "doubly_centred": both.to_numpy().T,
            "given_length": rest,
        }.items():
            found[name].append(np.corrcoef(a, b)[0, 1])
    for name, values in found.items():
        expected = np.percentile(values, [2.5, 97.5])
        assert [row[f"{name}_low"], row[f"{name}_high"]] == pytest.approx(list(expected), abs=1e-10)


def test_intervals_cover_the_estimate_and_shrink(cases, level):
    few = analyses.case_level(cases[cases["item_id"].isin([f"c{i}" for i in range(15)])], seed=1).set_index("metric")
    for name in analyses.ESTIMATES:
        low, value, high = (level.loc[METRIC, f"{name}{s}"] for s in ("_low", "", "_high"))
        assert low < value < high
        assert few.loc[METRIC, f"{name}_high"] - few.loc[METRIC, f"{name}_low"] > high - low


def test_doubly_centred_is_over_complete_cases(cases):
    gaps = cases.drop(index=[0, 8])
    row = analyses.case_level(gaps, seed=1, draws=10).set_index("metric").loc[METRIC]
    complete = cases[~cases["item_id"].isin(["c0", "c1"])]
    expected = analyses.case_level(complete, seed=1, draws=10).set_index("metric").loc[METRIC, "doubly_centred"]
    assert row["n_complete_cases"] == 58
    assert row["doubly_centred"] == pytest.approx(expected)


def test_scale_is_scipy_s(cases):
    row = analyses.scale(cases, seed=1, draws=200).set_index("metric").loc[METRIC]
    size, value = cases["size"], cases[METRIC]
    assert (row["spearman"], row["p_spearman"]) == pytest.approx(tuple(stats.spearmanr(size, value)))
    assert (row["kendall"], row["p_kendall"]) == pytest.approx(tuple(stats.kendalltau(size, value)))
    assert (row["pearson"], row["p_pearson"]) == pytest.approx(tuple(stats.pearsonr(size, value)))
    assert row["spearman_low"] < row["spearman"] < row["spearman_high"]
    assert row["groups"] == 4
    means = cases.groupby(pd.cut(size, [0, 5, 13, 40, 100]), observed=True)[METRIC].mean()
    assert row["group_spearman"] == pytest.approx(stats.spearmanr(range(4), means).statistic)


def test_weighted_spearman_is_that_of_the_repeated_sample():
    random = np.random.default_rng(3)
    x, y = random.integers(0, 5, 40), random.integers(0, 6, 40)
    weights = random.integers(0, 4, 40)
    expected = stats.spearmanr(np.repeat(x, weights), np.repeat(y, weights)).statistic
    assert analyses._weighted_spearman(x, y, weights.astype(float)) == pytest.approx(expected)


def test_size_groups(cases):
    table = analyses.size_groups(cases, seed=1)
    rows = table[table["metric"] == METRIC]
    assert list(rows["group"]) == ["<3B", "~10B", "32B", "72B"]
    assert list(rows["n"]) == [180, 60, 120, 60]
    means = (
        cases.groupby(pd.cut(cases["size"], [0, 4.9, 13, 40, 100]), observed=True)[METRIC].mean().reset_index(drop=True)
    )
    expected = (means - means.median()) / (means.quantile(0.75) - means.quantile(0.25))
    assert list(rows["mean"]) == pytest.approx(list(means))
    assert list(rows["scaled"]) == pytest.approx(list(expected))
    assert ((rows["scaled_low"] < rows["scaled"]) & (rows["scaled"] < rows["scaled_high"])).all()


@pytest.mark.parametrize(
    ("size", "group"), [(0.5, 0), (3, 0), (4.9, 0), (5, 1), (7, 1), (13, 1), (14, 2), (40, 2), (72, 3)]
)
def test_size_group(size, group):
    """The bounds of the paper's plots: below 5, up to 13, up to 40, above."""
    assert analyses.size_group(size) == group


def test_constants_are_named_and_no_number(cases):
    flat = cases.assign(**{METRIC: 0.5})
    row = analyses.case_level(flat, seed=1, draws=10).set_index("metric").loc[METRIC]
    assert row["reason"] == "a column is constant"
    assert pd.isna(row["point_biserial"])
    row = analyses.scale(cases.assign(size=1.0), seed=1, draws=10).set_index("metric").loc[METRIC]
    assert row["reason"] == "a column is constant"
    assert analyses.size_groups(flat, seed=1, draws=10).set_index("metric").loc[METRIC, "scaled"].isna().all()
    alone = analyses.size_groups(cases[cases["size"] == 7], seed=1, draws=10).set_index("metric").loc[METRIC]
    assert alone["group"] == "~10B"
    assert pd.isna(alone["scaled"])


def test_q_is_the_false_discovery_rate_within_a_benchmark(cases):
    """Oracle: statsmodels, over the metrics of each benchmark apart; a metric without p stands outside."""
    from statsmodels.stats.multitest import multipletests

    random = np.random.default_rng(5)
    others = {f"noise[{i}]": random.normal(size=len(cases)) + 0.1 * i * cases["accuracy"] for i in range(4)}
    both = pd.concat([cases.assign(**others), cases.assign(**others, benchmark="c", accuracy=1 - cases["accuracy"])])
    both = both.assign(**{"flat[x]": 0.5})
    for table, names in (
        (analyses.group_level(both), {f"{name}_p": f"{name}_q" for name in ("pearson", "spearman", "kendall")}),
        (analyses.case_level(both, seed=1, draws=10), {"p": "q"}),
        (analyses.scale(both, seed=1, draws=10), {f"p_{name}": f"q_{name}" for name in ("spearman", "kendall")}),
    ):
        for _, family in table.groupby("benchmark"):
            for p, q in names.items():
                defined = family.dropna(subset=p)
                assert len(defined) == 6
                expected = multipletests(defined[p].astype(float), method="fdr_bh")[1]
                assert list(defined[q]) == pytest.approx(list(expected))
                assert family.loc[family["metric"] == "flat[x]", q].isna().all()


def test_signs(cases):
    level = pd.DataFrame({"metric": ["a", "a", "b"], "spearman": [0.5, -0.9, None]})
    summary = analyses.signs(level, "spearman").set_index("metric")
    assert summary.loc["a"].tolist() == pytest.approx([-0.2, 0.7, 2])
    assert "b" not in summary.index


def test_case_frame():
    scores = pd.DataFrame(
        [
            ("b", "i", "m", metric, value)
            for metric, value in (("entqa_accuracy", 1.0), ("length[explanation]", 7.0), (METRIC, 0.25))
        ],
        columns=["benchmark", "item_id", "model", "metric", "value"],
    )
    (row,) = analyses.case_frame(scores, {"m": 7}).to_dict("records")
    assert (row["accuracy"], row["length"], row["size"], row[METRIC]) == (1.0, 7.0, 7.0, 0.25)
    assert analyses.metrics_of(analyses.case_frame(scores, {"m": None})) == [METRIC, analyses.LENGTH]


def test_answers_are_counted():
    rows = [
        ("b", i, "m", metric, value, flags)
        for i, (right, words, flags) in enumerate([(1, 10, ""), (0, 0, "empty,unparsed"), (0, 20, "copied,cut")])
        for metric, value in ((analyses.ACCURACY, right), (analyses.LENGTH, words))
    ]
    scores = pd.DataFrame(rows, columns=["benchmark", "item_id", "model", "metric", "value", "flags"])
    (row,) = analyses.answers(scores).to_dict("records")
    assert row == {
        "benchmark": "b",
        "model": "m",
        "n": 3,
        "accuracy": pytest.approx(1 / 3),
        "mean_length": 10,
        "n_unparsed": 1,
        "n_empty": 1,
        "n_copied": 1,
        "n_cut": 1,
    }
