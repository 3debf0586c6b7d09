"""EntQA's group-level statistics on the recorded means of seven models on MedExpQA."""

import pytest
from scipy import stats

from beyondqa.records import read_csv
from beyondqa.statistics.correlation import correlate


@pytest.fixture(scope="module")
def means(shared):
    return read_csv(shared / "facts/tables/entqa_medexpqa_model_means.csv")


@pytest.mark.parametrize("metric", ["background_recall", "question_recall", "BLEU_1", "METEOR", "ROUGE_1", "BERTScore"])
def test_coefficients_are_scipy_s(means, metric):
    found = correlate(means["acc_rate"], means[metric])
    assert found["n"] == 7
    assert (found["pearson"], found["pearson_p_asymptotic"]) == pytest.approx(
        tuple(stats.pearsonr(means["acc_rate"], means[metric]))
    )
    assert (found["spearman"], found["spearman_p_asymptotic"]) == pytest.approx(
        tuple(stats.spearmanr(means["acc_rate"], means[metric]))
    )
    assert found["kendall"] == pytest.approx(stats.kendalltau(means["acc_rate"], means[metric]).statistic)
    if means[metric].is_unique:
        expected = stats.kendalltau(means["acc_rate"], means[metric], method="exact").pvalue
        assert found["kendall_p"] == pytest.approx(expected)


def test_the_mean_recall_rises_with_accuracy(means):
    """EntQA_b of the older run rises with every step in accuracy: rho 1, exact p 2/7!."""
    found = correlate(means["acc_rate"], means["background_recall"])
    assert found["spearman"] == 1.0
    assert found["spearman_p"] == pytest.approx(2 / 5040)


def test_the_older_means_do_not_give_table_1(means, root):
    """The facts say that table 1 came from other, unrounded means: the coefficients differ."""
    published = read_csv(root / "resources/published/entqa_table1_group_level.csv").set_index(["benchmark", "metric"])
    found = correlate(means["acc_rate"], means["background_recall"])
    assert abs(found["spearman"] - published.loc[("MedExpQA", "background_recall"), "spearman"]) > 0.05
