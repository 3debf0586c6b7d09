"""Coefficients, exact p-values, intervals and corrections against scipy, R's documented values and published ones."""

import csv

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beyondqa.statistics.correlation import adjusted, correlate, correlation_matrix, exact_p

RANDOM = np.random.default_rng(11)


@pytest.mark.parametrize("n", [5, 8, 9, 10, 25])
def test_coefficients_are_those_of_scipy(n):
    x, y = RANDOM.normal(size=(2, n))
    result = correlate(x, y)
    pearson = stats.pearsonr(x, y)
    assert result["n"] == n
    assert result["pearson"] == pytest.approx(pearson.statistic)
    assert result["pearson_p_asymptotic"] == pytest.approx(pearson.pvalue)
    assert (result["pearson_low"], result["pearson_high"]) == pytest.approx(tuple(pearson.confidence_interval(0.95)))
    assert result["spearman"] == pytest.approx(stats.spearmanr(x, y).statistic)
    assert result["spearman_p_asymptotic"] == pytest.approx(stats.spearmanr(x, y).pvalue)
    assert result["kendall"] == pytest.approx(stats.kendalltau(x, y).statistic)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [5, 6, 7])
def test_exact_p_is_that_of_scipys_full_permutation_test(n, ties):
    x, y = RANDOM.normal(size=(2, n))
    if ties:
        x, y = np.round(x), np.round(y * 1.5)
        x[0], y[0] = 3, -3  # never constant
    judges = {
        "pearson": lambda a: stats.pearsonr(a, y).statistic,
        "spearman": lambda a: stats.spearmanr(a, y).statistic,
        "kendall": lambda a: stats.kendalltau(a, y).statistic,
    }
    for name, statistic in judges.items():
        judge = stats.permutation_test((x,), statistic, permutation_type="pairings", n_resamples=np.inf)
        # scipy doubles the smaller tail; the share at least as far from 0 is computed from its null distribution.
        null = np.abs(judge.null_distribution)
        expected = np.mean(null >= abs(judge.statistic) - 1e-9)
        assert exact_p(name, x, y) == pytest.approx(expected), name


def test_exact_kendall_without_ties_is_scipys_exact_method():
    x, y = RANDOM.normal(size=(2, 8))
    assert exact_p("kendall", x, y) == pytest.approx(stats.kendalltau(x, y, method="exact").pvalue)


def test_published_group_level_kendall_p_at_seven_models():
    # EntQA's table 1: Kendall .8095 has p .0107, and .7143 has p .0302 (n = 7).
    x = np.arange(7.0)
    two_swaps = np.array([1, 0, 2, 3, 4, 6, 5.0])
    three_swaps = np.array([1, 0, 3, 2, 4, 6, 5.0])
    assert correlate(x, two_swaps)["kendall"] == pytest.approx(0.8095, abs=5e-5)
    assert correlate(x, two_swaps)["kendall_p"] == pytest.approx(0.0107, abs=5e-5)
    assert correlate(x, three_swaps)["kendall"] == pytest.approx(0.7143, abs=5e-5)
    assert correlate(x, three_swaps)["kendall_p"] == pytest.approx(0.0302, abs=5e-5)


def test_published_spearman_p_values_are_t_approximations(shared):
    """EntQA prints p by t at n = 7; the exact p of the same coefficient is another and stands beside it."""
    with open(shared / "facts" / "tables" / "entqa_table1_group_level.csv", encoding="utf-8") as file:
        published = [row for row in csv.DictReader(file) if row["spearman"] == "0.8571"]
    x = np.arange(7.0)
    y = np.array([1, 2, 0, 3, 4, 6, 5.0])  # sum of squared rank differences 8: 1 - 6 * 8 / (7 * 48) = .8571
    result = correlate(x, y)
    assert published
    assert all(float(row["p_spearman"]) == 0.0137 for row in published)
    assert result["spearman"] == pytest.approx(0.8571, abs=5e-5)
    assert result["spearman_p_asymptotic"] == pytest.approx(0.0137, abs=5e-5)
    assert result["spearman_p"] == result["spearman_p_exact"] > 0.0137
    assert result["p_kind"] == "exact permutation"


def test_no_coefficient_below_four_and_no_p_below_five():
    assert correlate([1, 2, 3], [1, 2, 3])["pearson"] is None
    four = correlate([1, 2, 3, 4], [1, 3, 2, 4])
    assert four["pearson"] == pytest.approx(0.8)
    assert four["pearson_p"] is None
    assert "below 5" in four["reason"]
    assert correlate([1, 2, 3, 4, 5], [1, 3, 2, 4, 5])["pearson_p"] is not None


def test_constant_column_is_null_with_its_reason():
    result = correlate([0.1 + 0.2, 0.3, 0.3, 0.3, 0.3], [1, 2, 3, 4, 5])
    assert result["spearman"] is None
    assert result["reason"] == "a column is constant"


def test_missing_values_leave_the_pair_and_not_the_matrix():
    values = pd.DataFrame({"a": [1, 2, 3, 4, 5, 6], "b": [2, 1, 4, 3, 6, np.nan], "c": [1.0] * 6})
    matrix = correlation_matrix(values).set_index(["a", "b"])
    assert matrix.loc[("a", "b"), "n"] == 5
    assert matrix.loc[("a", "b"), "pearson"] == pytest.approx(
        stats.pearsonr([1, 2, 3, 4, 5], [2, 1, 4, 3, 6]).statistic
    )
    assert np.isnan(matrix.loc[("a", "c"), "pearson"])
    assert matrix.loc[("a", "c"), "reason"] == "a column is constant"


def test_correction_is_benjamini_hochberg_without_pairs_by_construction():
    p = [0.01, 0.02, 0.03, 0.5, 1e-12]
    pairs = pd.DataFrame({f"{c}_p": p for c in ("pearson", "spearman", "kendall")})
    pairs["by_construction"] = [False] * 4 + [True]
    # By hand: sorted p times m over rank, m = 4, made monotone from the right.
    assert adjusted(pairs)["pearson_q"].tolist()[:4] == pytest.approx([0.04, 0.04, 0.04, 0.5])
    assert np.isnan(adjusted(pairs)["pearson_q"].iloc[4])


def test_spearman_interval_covers_as_often_as_it_says():
    covered = []
    random = np.random.default_rng(5)
    rho = 6 / np.pi * np.arcsin(0.6 / 2)  # Spearman's rho of a bivariate normal with r = .6
    for _ in range(400):
        x = random.normal(size=20)
        y = 0.6 * x + 0.8 * random.normal(size=20)
        result = correlate(x, y)
        covered.append(result["spearman_low"] <= rho <= result["spearman_high"])
    assert 0.91 <= np.mean(covered) <= 0.99


def test_perfect_correlation_has_no_interval():
    result = correlate(range(6), range(6))
    assert result["pearson"] == pytest.approx(1)
    assert result["kendall_low"] is None
    assert result["kendall_p_exact"] == pytest.approx(2 / 720)
