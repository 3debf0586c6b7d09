"""The paper's own figures held against themselves. Judges: scipy, and the recomputation that the facts list."""

import itertools

import pandas as pd
import pytest
from scipy import stats

from beyondqa.entqa import published


@pytest.fixture(scope="module")
def tables(root):
    return {number: published.read(root / published.path(number)) for number in published.FILES}


@pytest.fixture(scope="module")
def checks(tables):
    return published.check(tables)


@pytest.mark.parametrize("n", [5, 7])
def test_exact_p_of_tau_is_scipy_s(n):
    seen = {}
    for order in itertools.permutations(range(n)):
        result = stats.kendalltau(range(n), order, method="exact")
        seen[round(result.statistic, 10)] = result.pvalue
    for tau, p in seen.items():
        assert published.p_of_tau(tau, n) == pytest.approx(p)


def test_p_of_r_is_scipy_s():
    x, y = [1, 2, 3, 4, 5, 6, 7], [2, 1, 4, 3, 7, 5, 6]
    result = stats.pearsonr(x, y)
    assert published.p_of_r(result.statistic, 7) == pytest.approx(result.pvalue)
    assert published.p_of_r(-1.0, 7) == 0.0


def test_tables_are_whole(tables):
    """Five benchmarks; ten metrics in tables 1 and 2, nine in table 3 (without rougeLsum)."""
    assert {number: len(table) for number, table in tables.items()} == {1: 50, 2: 50, 3: 45}
    for table in tables.values():
        assert set(table["benchmark"]) == set(published.BENCHMARKS.values())
        assert not table.isna().any().any()


def test_p_values_of_table_1_belong_to_seven_models(checks):
    first = checks[checks["table"] == 1]
    assert len(first) == 150
    assert first["agrees"].all()


def test_only_step_1_has_p_values_of_fewer_answers(checks, tables):
    """658 are printed; every p of table 2 there fits 656, as if two answers had been left out."""
    wrong = checks[~checks["agrees"]]
    assert set(wrong["benchmark"]) == {"entqa_usmle_step1"}
    assert set(wrong["table"]) == {2, 3}
    rows = published.fitting_rows(tables[2])
    assert rows["entqa_usmle_step1"] == (658, 656, 656)
    assert {name: most for name, (printed, _, most) in rows.items() if most == printed} == {
        "entqa_medqa": 8911,
        "entqa_medexpqa": 875,
        "entqa_usmle_step2": 763,
        "entqa_usmle_step3": 854,
    }


def test_a_misprint_would_be_seen(tables):
    table = tables[2].copy()
    table.loc[table.index[4], "p"] += 0.01
    before, after = (published.check({**tables, 2: t})["agrees"].sum() for t in (tables[2], table))
    assert after < before


def test_misprints_of_the_text(tables, root):
    claims = published.check_claims(published.read(root / published.FOLDER / published.CLAIMS), tables).set_index(
        "claim"
    )
    assert not claims["holds"].any()
    findings = dict(zip(claims.index.str.split(":").str[0], claims["finding"], strict=True))
    assert "0.0900; with n = 854, 0.0490 has p = 0.1525" in findings["Step 3"]
    assert "p = 0.0107" in findings["MedExpQA"]
    assert "0.079 is its pearson" in findings["MedQA"]
    assert "entqa_usmle_step2 ques_recall -0.0236" in findings["EntQA_q follows being right on every benchmark"]


def test_the_result_is_one_of_sign(tables):
    """The mean size of BERTScore's rho over the benchmarks is above EntQA_b's, and its sign is the other one."""
    rho = tables[1].groupby("metric")["spearman"]
    assert rho.agg(lambda v: v.abs().mean())["bertscore_f1"] == pytest.approx(0.8929, abs=5e-5)
    assert rho.agg(lambda v: v.abs().mean())["background_recall"] == pytest.approx(4.2857 / 5, abs=5e-5)
    assert (rho.mean()["bertscore_f1"] < 0) & (rho.mean()["background_recall"] > 0)


def test_beside():
    ours = pd.DataFrame(
        {
            "benchmark": ["entqa_medqa", "entqa_medqa", "other"],
            "metric": ["entqa_b[as_coded,x,y]", "entqa_b[as_published,x,y]", "entqa_b[as_coded,x,y]"],
            "rho": [0.9, 0.8, 0.7],
        }
    )
    table = pd.DataFrame({"benchmark": ["entqa_medqa"], "metric": ["background_recall"], "spearman": [0.8571]})
    result = published.beside(ours, table, {"rho": "spearman"})
    assert result["rho_difference"].iloc[0] == pytest.approx(0.0429)
    assert result["rho_published"].isna().tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("entqa_q[as_coded,biomedical-ner-all,Linq-Embed-Mistral]", "ques_recall"),
        ("entqa_q[as_coded_dropping,biomedical-ner-all,Linq-Embed-Mistral]", None),
        ("rougeL[nostem,question]", "rougeL"),
        ("rougeLsum[nostem,question]", "rougeLsum"),
        ("bertscore_f1[deberta-xlarge-mnli,L40,question]", "bertscore_f1"),
        ("bleu[evaluate,13a,nosmooth,question]", None),
        ("length[explanation]", None),
    ],
)
def test_published_name(metric, name):
    assert published.published_name(metric) == name
