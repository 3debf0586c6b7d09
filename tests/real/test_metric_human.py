"""MTS-Dialog's manual scores against our metrics, judged by values computed apart from this code."""

import numpy as np
import pandas as pd
import pytest

from beyondqa.metric_human import LENGTH, metric_human, read_mts_dialog


@pytest.fixture(scope="module")
def folder(shared):
    return shared / "recorded/mts_dialog_correlation_study"


@pytest.fixture(scope="module")
def study(folder):
    return read_mts_dialog(
        folder / "MTS-Dialog-Automatic-Summaries-ValidationSet.csv",
        folder / "MTS-Dialog-Manual-Scores4CorrelationStudy.csv",
    )


@pytest.fixture(scope="module")
def table(study):
    return metric_human(study, {"rouge": {}, "bleu": {}}, seed=1).set_index(["metric", "human_score", "level"])


def test_all_rows_are_read(study):
    assert study.shape == (100, 4)
    assert len(study.pairs) == 400
    assert set(study.human) >= {"FactualPrecision", "FactualRecall", "FactualF1", "HallucinationRate", "OmissionRate"}


def test_length_follows_factual_recall_within_dialogues_and_not_across(table):
    """Values found when the data were collected, by another program: about .46 and .42 within, -.28 pooled."""
    recall = ("FactualRecall", "within item")
    assert table.loc[(LENGTH, *recall)].pearson == pytest.approx(0.46, abs=0.01)
    assert round(table.loc[("rouge1[nostem]", *recall)].pearson, 2) == 0.42
    assert round(table.loc[(LENGTH, "FactualRecall", "pooled")].pearson, 2) == -0.28


def test_pooled_length_is_that_of_the_raw_files(folder, table):
    answers = pd.read_csv(folder / "MTS-Dialog-Automatic-Summaries-ValidationSet.csv", keep_default_na=False)
    manual = pd.read_csv(folder / "MTS-Dialog-Manual-Scores4CorrelationStudy.csv")
    words = answers["Automatic Summary"].str.split().str.len()
    for score in manual.columns:
        expected = np.corrcoef(words, manual[score])[0, 1]
        assert table.loc[(LENGTH, score, "pooled")].pearson == pytest.approx(expected), score
