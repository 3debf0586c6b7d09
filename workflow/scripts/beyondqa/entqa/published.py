"""The paper's own figures: beside ours, and held against themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..records import read_csv

if TYPE_CHECKING:
    import pandas as pd

FILES = {1: "entqa_table1_group_level.csv", 2: "entqa_table2_case_level.csv", 3: "entqa_table3_model_scale.csv"}
CLAIMS = "entqa_text_claims.csv"
FOLDER = "resources/published"

BENCHMARKS = {
    "MedQA": "entqa_medqa",
    "MedExpQA": "entqa_medexpqa",
    "USMLE_STEP_1": "entqa_usmle_step1",
    "USMLE_STEP_2": "entqa_usmle_step2",
    "USMLE_STEP_3": "entqa_usmle_step3",
}
# What our metrics' names begin with -> the published name.
METRICS = {
    "entqa_b[as_coded,": "background_recall",
    "entqa_q[as_coded,": "ques_recall",
    "bleu_precision4[": "bleu4",
    "bleu_precision1[": "bleu1",
    "meteor[": "meteor",
    "rouge1[nostem,question]": "rouge1",
    "rouge2[nostem,question]": "rouge2",
    "rougeL[nostem,question]": "rougeL",
    "rougeLsum[nostem,question]": "rougeLsum",
    "bertscore_f1[": "bertscore_f1",
}
MODELS = 7
DECIMALS = {1: 4, 2: 4, 3: 3}


def path(table: int) -> str:
    """The file of a published table, from the project's folder."""
    return f"{FOLDER}/{FILES[table]}"


def read(file: str | Path) -> pd.DataFrame:
    """A published table, its benchmarks under our names."""
    table = read_csv(file)
    return table.assign(benchmark=table["benchmark"].map(BENCHMARKS))


def published_name(metric: str) -> str | None:
    """The paper's name of one of our metrics, None where the paper has none."""
    return next((name for prefix, name in METRICS.items() if metric.startswith(prefix)), None)


def beside(ours: pd.DataFrame, table: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """`ours` with, for each of its `columns` (ours -> published), `{ours}_published` and `{ours}_difference`.

    Joined by benchmark and metric; missing where the paper has no such cell.
    """
    named = ours.assign(published_metric=[published_name(metric) for metric in ours["metric"]])
    cells = table.rename(
        columns={"metric": "published_metric"} | {theirs: f"{own}_published" for own, theirs in columns.items()}
    )
    kept = ["benchmark", "published_metric", *(f"{own}_published" for own in columns)]
    joined = named.merge(cells[kept], on=["benchmark", "published_metric"], how="left").drop(columns="published_metric")
    for own in columns:
        joined[f"{own}_difference"] = joined[own].astype(float) - joined[f"{own}_published"].astype(float)
    return joined


def p_of_r(r: float, n: int) -> float:
    """Two-sided p of a Pearson, Spearman or point-biserial coefficient by t with n - 2 degrees of freedom."""
    from scipy.stats import t

    if abs(r) >= 1:
        return 0.0
    return float(2 * t.sf(abs(r) * np.sqrt((n - 2) / (1 - r * r)), n - 2))


def p_of_tau(tau: float, n: int) -> float:
    """Two-sided exact p of Kendall's tau without ties: the share of the n! orders with at least its size.

    Orders are counted by their inversions (Mahonian numbers, the coefficients of the product of
    1 + x + ... + x^k for k < n).
    """
    pairs = n * (n - 1) // 2
    counts = np.ones(1)
    for k in range(1, n):
        counts = np.convolve(counts, np.ones(k + 1))
    inversions = round(pairs * (1 - abs(tau)) / 2)
    tail = counts[: inversions + 1].sum() / counts.sum()
    return float(min(1.0, 2 * tail))


def check(tables: Mapping[int, pd.DataFrame]) -> pd.DataFrame:
    """Each published p against its coefficient and n, one row a p.

    `p_low` and `p_high` bound the p of every coefficient that rounds to the printed one; `agrees` says whether
    the printed p lies between them, rounding included. Kendall's tau of table 3 has ties and is left out.
    """
    import pandas as pd

    rows = tables[2].groupby("benchmark")["n_rows"].first()
    checks = [
        _checked(number, cell, coefficient, p, n)
        for number, table in sorted(tables.items())
        for cell in table.to_dict("records")
        for coefficient, p, n in _coefficients(number, cell, rows)
    ]
    return pd.DataFrame(checks)


def fitting_rows(table: pd.DataFrame, fewer: int = 60) -> dict[str, tuple[int, int, int]]:
    """Benchmark -> the printed number of answers of table 2, and the least and most that all its p-values fit.

    Tried are the printed number and up to `fewer` below it. The authors' code leaves answers without an
    explanation out, so that a p may belong to fewer answers than there are.
    """
    found = {}
    for benchmark, cells in table.groupby("benchmark"):
        printed = int(cells["n_rows"].iloc[0])
        fitting = [
            n
            for n in range(printed - fewer, printed + 1)
            if all(_checked(2, cell, "pointbiserial", cell["p"], n)["agrees"] for cell in cells.to_dict("records"))
        ]
        if fitting:
            found[benchmark] = (printed, min(fitting), max(fitting))
    return found


def _coefficients(number: int, cell: Mapping[str, Any], rows: pd.Series) -> Iterator[tuple[str, float, int]]:
    if number == 2:
        yield "pointbiserial", cell["p"], int(cell["n_rows"])
        return
    n = MODELS if number == 1 else int(rows[cell["benchmark"]])
    for name in ("pearson", "spearman", *(["kendall"] if number == 1 else [])):
        yield name, cell[f"p_{name}"], n


def _checked(number: int, cell: Mapping[str, Any], coefficient: str, p: float, n: int) -> dict[str, Any]:
    value = float(cell[coefficient])
    p_of = p_of_tau if coefficient == "kendall" else p_of_r
    half = 0.5 * 10.0 ** -DECIMALS[number]
    low, high = p_of(min(1.0, abs(value) + half), n), p_of(max(0.0, abs(value) - half), n)
    return {
        "table": number,
        "benchmark": cell["benchmark"],
        "metric": cell["metric"],
        "coefficient": coefficient,
        "value": value,
        "n": n,
        "p_published": float(p),
        "p_recomputed": p_of(value, n),
        "p_low": low,
        "p_high": high,
        "agrees": bool(low - half <= p <= high + half),
    }


def check_claims(claims: pd.DataFrame, tables: Mapping[int, pd.DataFrame]) -> pd.DataFrame:
    """Statements of the paper's text against its own tables: `claim`, `holds`, and `finding` in words."""
    import pandas as pd

    rows = tables[2].groupby("benchmark")["n_rows"].first()
    results = []
    for claim in claims.to_dict("records"):
        table = tables[int(claim["table"])]
        everywhere = pd.isna(claim["benchmark"])
        cells = table[table["benchmark"].notna() if everywhere else table["benchmark"] == claim["benchmark"]]
        holds, finding = _JUDGES[claim["kind"]](claim, cells, rows)
        results.append({"claim": claim["claim"], "holds": holds, "finding": finding})
    return pd.DataFrame(results)


def _value(claim: Mapping[str, Any], cells: pd.DataFrame, rows: pd.Series) -> tuple[bool, str]:
    cell = _own(claim, cells).iloc[0]
    name, stated = claim["coefficient"], claim["value"]
    printed = float(cell[name])
    finding = f"table {claim['table']} has {name} {printed:.4f}"
    others = [other for other in ("pearson", "spearman", "kendall") if other != name and cell.get(other) == stated]
    finding += "".join(f"; {stated:.3f} is its {other}" for other in others)
    if not np.isnan(claim["p"]):
        n = int(rows[cell["benchmark"]])
        of_stated, of_printed = (p_of_r(r, n) for r in (stated, printed))
        finding += f"; with n = {n}, {stated:.4f} has p = {of_stated:.4f} and {printed:.4f} has {of_printed:.4f}"
    return abs(printed - stated) < 5e-5, finding


def _positive(claim: Mapping[str, Any], cells: pd.DataFrame, rows: pd.Series) -> tuple[bool, str]:
    own = _own(claim, cells)
    negative = own[own[claim["coefficient"]] <= 0]
    return negative.empty, "; ".join(_cell_texts(negative, claim)) or "so it is"


def _only_positive(claim: Mapping[str, Any], cells: pd.DataFrame, rows: pd.Series) -> tuple[bool, str]:
    baselines = ~cells["metric"].isin(["background_recall", "ques_recall", claim["metric"]])
    others = cells[baselines & (cells[claim["coefficient"]] > 0)]
    return others.empty, "; ".join(_cell_texts(others, claim)) or "so it is"


def _significant(claim: Mapping[str, Any], cells: pd.DataFrame, rows: pd.Series) -> tuple[bool, str]:
    p = _own(claim, cells)[f"p_{claim['coefficient']}"]
    finding = f"p = {p.min():.4f}" if len(p) == 1 else f"p from {p.min():.4f} to {p.max():.4f}"
    return bool((p < claim["bound"]).all()), finding


def _own(claim: Mapping[str, Any], cells: pd.DataFrame) -> pd.DataFrame:
    return cells[cells["metric"] == claim["metric"]]


def _cell_texts(cells: pd.DataFrame, claim: Mapping[str, Any]) -> list[str]:
    return [f"{c['benchmark']} {c['metric']} {c[claim['coefficient']]:+.4f}" for c in cells.to_dict("records")]


_JUDGES = {"value": _value, "positive": _positive, "only_positive": _only_positive, "significant": _significant}
