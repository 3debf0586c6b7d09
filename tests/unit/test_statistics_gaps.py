"""Statistics of studies with nothing in them: empty files, one model, equal scores. They say so and do not crash."""

import numpy as np
import pandas as pd
import pytest

from beyondqa.items import Score
from beyondqa.metrics.base import Metric
from beyondqa.records import read_csv, scores_frame, write_csv, write_parquet
from beyondqa.statistics.against import accuracy_correlations
from beyondqa.statistics.aggregation import means
from beyondqa.statistics.dispersion import dispersion
from beyondqa.statistics.matrices import analyse_metrics, benchmark_matrix
from beyondqa.statistics.scores import metrics_metadata, read_with_metrics

METRICS = {name: Metric(name, name, True, 0.0, 1.0) for name in ("accuracy", "rouge1")}


def rows(models, value=0.5):
    return [
        Score(f"{benchmark}:{i}", benchmark, model, "greedy", 0, metric, value)
        for benchmark, metric in (("medqa", "accuracy"), ("medtext", "rouge1"), ("olaph", "rouge1"))
        for model in models
        for i in range(4)
    ]


@pytest.fixture
def stored(tmp_path):
    def made(scores):
        write_parquet(tmp_path / "s.parquet", scores_frame(scores), metrics_metadata(METRICS))
        loaded, metrics = read_with_metrics([tmp_path / "s.parquet"])
        write_csv(tmp_path / "m.csv", means(loaded, metrics, {}, seed=1, draws=20))
        return loaded, metrics, read_csv(tmp_path / "m.csv")

    return made


def accuracy(frame, models):
    return accuracy_correlations(frame, ["medqa"], dict.fromkeys(models, 7.0), dict.fromkeys(models, "x"))


def test_an_empty_study_has_empty_statistics_with_all_their_columns(stored):
    scores, metrics, frame = stored([])
    assert len(frame) == 0
    found = analyse_metrics(scores, metrics, {}, {}, seed=1, draws=5, splits=5)
    assert [len(part) for part in (found.pairs, found.stability, found.families, found.clusters)] == [0, 0, 0, 0]
    assert {"benchmark", "a", "b", "pearson", "weak"} <= set(found.pairs.columns)
    assert len(benchmark_matrix(frame)) == 0
    assert len(accuracy(frame, [])) == 0
    assert len(dispersion(scores, metrics)) == 0


def test_a_file_without_rows_beside_one_with_rows(tmp_path):
    write_parquet(tmp_path / "a.parquet", scores_frame([]), metrics_metadata(METRICS))
    write_parquet(tmp_path / "b.parquet", scores_frame(rows(["m"])), metrics_metadata(METRICS))
    scores, metrics = read_with_metrics([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    assert means(scores, metrics, {}, seed=1, draws=5)["n"].tolist() == [4, 4, 4]


def test_one_model_has_means_and_no_correlation(stored):
    scores, metrics, frame = stored(rows(["m"]))
    assert frame["mean"].tolist() == [0.5, 0.5, 0.5]
    assert benchmark_matrix(frame)["reason"].tolist() == ["n = 1: no coefficient below 4"]
    assert set(accuracy(frame, ["m"])["reason"]) <= {"n = 1: no coefficient below 4", "n = 0: no coefficient below 4"}
    found = analyse_metrics(scores, metrics, {}, {"m": "x"}, seed=1, draws=5, splits=5)
    assert set(found.stability["reason"]) == {"n = 1 models: no coefficient below 4"}


def test_equal_scores_everywhere_give_reasons(stored):
    models = [f"m{i}" for i in range(6)]
    scores, metrics, frame = stored(rows(models))
    assert benchmark_matrix(frame)["reason"].tolist() == ["a column is constant"]
    whole = accuracy(frame, models).query("left_out == ''")
    assert set(whole["reason"]) == {"a column is constant"}
    assert (frame["ci_low"] == 0.5).all()
    found = analyse_metrics(scores, metrics, {}, dict.fromkeys(models, "x"), seed=1, draws=5, splits=5)
    assert found.stability["reliability"].isna().all()


def test_a_benchmark_that_some_models_did_not_finish_keeps_the_others(stored):
    random = np.random.default_rng(1)
    models = [f"m{i}" for i in range(6)]
    scores = [
        Score(f"{b}:{i}", b, m, "greedy", 0, metric, float(random.random()))
        for b, metric in (("medqa", "accuracy"), ("medtext", "rouge1"), ("olaph", "rouge1"))
        for k, m in enumerate(models)
        for i in range(4)
        if b != "olaph" or k < 4
    ]
    _, _, frame = stored(scores)
    matrix = benchmark_matrix(frame)
    assert matrix[["n", "a", "b"]].to_numpy().tolist() == [[4, "medtext", "olaph"]]
    found = accuracy(frame, models).query("left_out == '' and models == 'all'").set_index("benchmark")
    assert found["n"].to_dict() == {"medtext": 6, "olaph": 4}
    assert isinstance(found, pd.DataFrame)
