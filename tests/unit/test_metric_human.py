"""Correlations with human scores at four levels, judged by plain NumPy and statsmodels on the expanded rows."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from beyondqa.errors import StudyError
from beyondqa.metric_human import LENGTH, LEVELS, correlations, read_mts_dialog


def example(items=30, systems=4, seed=1):
    rng = np.random.default_rng(seed)
    base, system = rng.normal(size=(items, 1)), rng.normal(size=(1, systems))
    length = np.rint(np.exp(rng.normal(3, 0.5, size=(items, systems))))
    human = base + 0.5 * system + 0.3 * np.log1p(length) + rng.normal(size=(items, systems))
    metric = 0.7 * human - base + rng.normal(size=(items, systems))
    return {"m": metric, LENGTH: length}, {"h": human}


def centred(array, level):
    by_item, by_system = LEVELS[level]
    frame = pd.DataFrame(array)
    if by_item:
        frame = frame.sub(frame.mean(axis=1), axis=0)
    if by_system:
        frame = frame.sub(frame.mean(axis=0), axis=1)
    return frame.to_numpy().ravel()


@pytest.mark.parametrize("level", list(LEVELS))
def test_coefficients_are_those_of_the_centred_rows(level):
    values, human = example()
    found = correlations(values, human, seed=0, draws=50).set_index(["metric", "level"])
    x, y = centred(values["m"], level), centred(human["h"], level)
    z = centred(np.log1p(values[LENGTH]), level)
    row = found.loc[("m", level)]
    assert row.pearson == pytest.approx(np.corrcoef(x, y)[0, 1])
    residuals = [sm.OLS(a, sm.add_constant(z)).fit().resid for a in (x, y)]
    assert row.pearson_given_length == pytest.approx(np.corrcoef(*residuals)[0, 1])
    assert (row.n, row.n_items) == (120, 30)


@pytest.mark.parametrize("level", list(LEVELS))
def test_intervals_are_those_of_whole_items_drawn_again(level):
    values, human = example()
    row = correlations(values, human, seed=0, draws=4000).set_index(["metric", "level"]).loc[("m", level)]
    rng = np.random.default_rng(7)
    draws = []
    for _ in range(1500):
        chosen = rng.integers(30, size=30)
        draws.append(np.corrcoef(centred(values["m"][chosen], level), centred(human["h"][chosen], level))[0, 1])
    assert (row.ci_low, row.ci_high) == pytest.approx(np.percentile(draws, [2.5, 97.5]), abs=0.03)
    assert row.ci_low < row.pearson < row.ci_high


def test_what_does_not_vary_is_null_with_a_reason():
    values, human = example()
    human["constant"] = np.full((30, 4), 0.1)
    human["per item"] = np.repeat(np.arange(30.0)[:, None], 4, axis=1)
    found = correlations(values, human, seed=0, draws=20).set_index(["metric", "human_score", "level"])
    constant = found.loc[("m", "constant", "pooled")]
    assert constant.isna().pearson
    assert constant.reason == "a variable does not vary"
    assert found.loc[("m", "per item", "within item")].isna().pearson
    assert not found.loc[("m", "per item", "pooled")].isna().pearson
    assert found.loc[(LENGTH, "h", "pooled")].isna().pearson_given_length


def write(path, header, rows):
    path.write_text(
        "\ufeff" + ",".join(header) + "\n" + "".join(",".join(row) + "\n" for row in rows), encoding="utf-8"
    )
    return path


def test_files_whose_rows_do_not_pair_up_are_refused(tmp_path):
    header = ["ID", "Dialogue", "Reference Summary", "Automatic Summary"]
    automatic = write(tmp_path / "a.csv", header, [["0", "d", "r", "x"], ["1", "d", "r", "x"]] * 2)
    manual = write(tmp_path / "m.csv", ["FactualF1"], [["1"]] * 4)
    study = read_mts_dialog(automatic, manual)
    assert study.shape == (2, 2)
    with pytest.raises(StudyError, match="3 manual scores for 4 summaries"):
        read_mts_dialog(automatic, write(tmp_path / "n.csv", ["FactualF1"], [["1"]] * 3))
    shuffled = write(
        tmp_path / "b.csv", header, [["0", "d", "r", "x"], ["1", "d", "r", "x"]] + [["1", "d", "r", "x"]] * 2
    )
    with pytest.raises(StudyError, match="whole blocks"):
        read_mts_dialog(shuffled, manual)
