"""The data quality report: one row a benchmark, what overlaps with what, and a page that explains it."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..items import Item
from .checks import CHECKS, LANGUAGE_CONFIDENCE, Finding, find_faults, gold_balance
from .duplicates import IDENTICAL, KINDS, NEAR, NEAR_JACCARD, SAME_QUESTION, Pair, find_pairs, overlaps
from .head_qa import NAME as HEAD_QA

if TYPE_CHECKING:
    import pandas as pd

LISTED = 20  # findings and pairs of a kind that the page lists; the CSV files hold all


OVERLAP_COLUMNS = ("benchmark_a", "benchmark_b", "kind", "pairs", "items_a", "items_b")
GOLD_COLUMNS = ("benchmark", "position", "count", "share", "p", "reason")


@dataclass(frozen=True)
class Quality:
    """All results. The rows of `summary` are benchmarks, of `gold_positions` positions of a benchmark's options."""

    summary: list[dict[str, Any]]
    overlaps: list[dict[str, Any]]
    pairs: list[Pair]
    findings: list[Finding]
    gold_positions: list[dict[str, Any]]


def examine(items: Sequence[Item], languages: Mapping[str, str]) -> Quality:
    """Everything about the items of the benchmarks that `languages` names (as in `find_faults`), in its order."""
    pairs = find_pairs(items)
    findings = find_faults(items, languages)
    gold = gold_balance(items)
    return Quality(_summary(items, list(languages), pairs, findings, gold), overlaps(pairs), pairs, findings, gold)


def frames(quality: Quality) -> dict[str, pd.DataFrame]:
    """The results as tables, by the field's name; a table without rows has its columns."""
    import pandas as pd

    return {
        "summary": pd.DataFrame(quality.summary),
        "overlaps": pd.DataFrame(quality.overlaps, columns=list(OVERLAP_COLUMNS)),
        "pairs": pd.DataFrame(map(dataclasses.asdict, quality.pairs), columns=_fields(Pair)),
        "findings": pd.DataFrame(map(dataclasses.asdict, quality.findings), columns=_fields(Finding)),
        "gold_positions": pd.DataFrame(quality.gold_positions, columns=list(GOLD_COLUMNS)),
    }


def _fields(record: type) -> list[str]:
    return [field.name for field in dataclasses.fields(record)]


def page(quality: Quality) -> str:
    """The report as Markdown. Texts of items do not appear, only their ids."""
    return "\n".join(
        [
            "# Data quality",
            "",
            "A fault is reported, not mended: the benchmarks are scored as they are published.",
            "",
            "## Benchmarks",
            "",
            *_table(quality.summary),
            "",
            "- identical, near, same question: items with a twin of that kind in the same benchmark (the first of "
            "several identical ones is not counted). Equal wording, whatever the case, spacing and punctuation; "
            f"Jaccard index of 5-byte shingles at least {NEAR_JACCARD:g}, question with options or reference; equal "
            "question with other options or another reference.",
            f"- other language: detected with a probability of at least {LANGUAGE_CONFIDENCE:g}.",
            "- length outlier: number of words beyond Tukey's fences on a logarithmic scale.",
            "- gold p: chi-square test of the gold answer's position against equal shares.",
            "",
            "## CareQA and HEAD-QA",
            "",
            *_head_qa(quality),
            "",
            "## Across benchmarks",
            "",
            *_across(quality),
            "",
            "## Findings",
            "",
            *_findings(quality),
        ]
    )


def _summary(
    items: Sequence[Item],
    benchmarks: Sequence[str],
    pairs: Sequence[Pair],
    findings: Sequence[Finding],
    gold: Sequence[Mapping[str, Any]],
) -> list[dict[str, Any]]:
    sizes = Counter(item.benchmark for item in items)
    within = {kind: Counter[str]() for kind in KINDS}
    for kind in KINDS:
        twins = {(p.benchmark_b, p.id_b) for p in pairs if p.kind == kind and p.benchmark_a == p.benchmark_b}
        within[kind].update(benchmark for benchmark, _ in twins)
    faults = Counter((f.benchmark, f.check) for f in {(f.benchmark, f.check, f.item_id): f for f in findings}.values())
    p_values = {row["benchmark"]: row["p"] for row in gold}
    return [
        {
            "benchmark": benchmark,
            "items": sizes[benchmark],
            **{kind: within[kind][benchmark] for kind in KINDS},
            **{check: faults[benchmark, check] for check in CHECKS},
            "gold_p": p_values.get(benchmark),
        }
        for benchmark in benchmarks
    ]


def _head_qa(quality: Quality) -> list[str]:
    sizes = {row["benchmark"]: row["items"] for row in quality.summary}
    if not sizes.get(HEAD_QA) or not sizes.get("careqa"):
        return ["Not measured: it needs CareQA in the study and HEAD-QA's file among the originals."]
    found = {kind: [p for p in quality.pairs if p.kind == kind and _between(p, "careqa", HEAD_QA)] for kind in KINDS}
    items = {kind: len({pair.id_a for pair in pairs}) for kind, pairs in found.items()}
    return [
        f"Of CareQA's {sizes['careqa']:,} items, {items[IDENTICAL]} are identical to one of HEAD-QA's "
        f"{sizes[HEAD_QA]:,} items, {items[NEAR]} nearly so, and {items[SAME_QUESTION]} more ask the same question "
        "with other options. The paper says that the two do not overlap.",
        "",
        *_table([_pair_row(pair) for kind in (IDENTICAL, NEAR) for pair in found[kind]][:LISTED]),
    ]


def _across(quality: Quality) -> list[str]:
    rows = [row for row in quality.overlaps if row["benchmark_a"] != row["benchmark_b"]]
    if not rows:
        return ["No item of one benchmark has a twin in another."]
    return [
        "Some benchmarks share items by design: variants of one source, and CareQA-Open with CareQA.",
        "",
        *_table(rows),
    ]


def _findings(quality: Quality) -> list[str]:
    lines = []
    for check in CHECKS:
        found = [finding for finding in quality.findings if finding.check == check]
        lines += [f"### {check.replace('_', ' ')}: {len(found)}", ""]
        rows = [{"benchmark": f.benchmark, "item": f.item_id, "what": f.detail} for f in found[:LISTED]]
        lines += [*_table(rows), ""]
        if len(found) > LISTED:
            lines += [f"The first {LISTED}; findings.csv has all.", ""]
    return lines


def _between(pair: Pair, a: str, b: str) -> bool:
    return (pair.benchmark_a, pair.benchmark_b) == (a, b)


def _pair_row(pair: Pair) -> dict[str, Any]:
    return {"kind": pair.kind, "careqa": pair.id_a, "head_qa": pair.id_b, "jaccard": f"{pair.jaccard:.2f}"}


def _table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    if not rows:
        return []
    lines = [_line(name.replace("_", " ") for name in rows[0]), _line("---" for _ in rows[0])]
    return [*lines, *(_line(_cell(value) for value in row.values()) for row in rows)]


def _line(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    text = f"{value:.2g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
