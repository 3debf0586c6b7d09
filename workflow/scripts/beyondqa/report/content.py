"""What stands on the page, section by section, as plain lists and texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..records import read_json
from ..statistics.labels import metric_rank
from . import facts
from .page import command, figure_content, table_content
from .picture import workflow_picture

if TYPE_CHECKING:
    import pandas as pd

SECTIONS = (
    ("overview", "Overview"),
    ("claims", "Claims"),
    ("tables", "Tables"),
    ("figures", "Figures"),
    ("warnings", "Warnings"),
    ("run", "Run facts"),
)


def content(files: Mapping[str, Sequence[str]], study: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that the template shows.

    `files`: tables and figures (their JSON files), means, manifests, records, and joins, how recorded predictions
    were joined to items, where there are any. `study`: name, seed, config file
    names, models (see statistics.inputs.Inputs) and benchmarks, the layers and arrows of the picture, names
    of tables and figures that the study has nothing for, and the folder of Snakemake's benchmark files.
    """
    means = facts.read_means(files["means"])
    tables = [table_content(path) for path in files["tables"]]
    figures = [figure_content(path) for path in files["figures"]]
    for shown in (*tables, *figures):
        shown["command"] = command(shown["rule"], study["configfiles"])
    records = joined_records(files["records"])
    manifests = facts.dataset_facts(files["manifests"])
    return {
        "study": study,
        "sections": SECTIONS,
        "overview": _overview(study, tables, figures, means),
        "cautions": _cautions(study, means, manifests),
        "picture": workflow_picture(study["layers"], study["arrows"]),
        "claims": next((table for table in tables if table["name"] == "claims"), None),
        "tables": sorted((t for t in tables if t["name"] != "claims"), key=lambda t: not t["name"].startswith("table")),
        "record_data": records,
        "with_records": sorted(
            {f"{r['model']}\t{records['items'][r['item']]['benchmark']}" for r in records["records"]}
        ),
        "figures": figures,
        "warnings": _warnings(study, means, files.get("joins", ())),
        "facts": _facts(study, manifests),
    }


def joined_records(paths: Sequence[str]) -> dict[str, Any]:
    """The samples of all packs as one."""
    samples = [read_json(path) for path in paths]
    return {
        "items": {name: item for sample in samples for name, item in sample["items"].items()},
        "records": [record for sample in samples for record in sample["records"]],
    }


def _overview(study, tables, figures, means: pd.DataFrame) -> list[tuple[str, str]]:
    derived = sum(bool(m["derived_from"]) for m in study["models"].values())
    items = int(means.groupby("benchmark")["n"].max().sum()) if len(means) else 0
    return [
        ("Models", f"{len(study['models'])}{f', {derived} of them derived from another by noise' * bool(derived)}"),
        ("Benchmarks", f"{len(study['benchmarks'])}, {items:,} items"),
        ("Metrics", ", ".join(_headline_labels(means)) if len(means) else "none"),
        ("Tables and figures", f"{len(tables)} and {len(figures)}"),
        ("Study seed", str(study["seed"])),
        ("Remake everything", command("all", study["configfiles"])),
    ]


def _headline_labels(means: pd.DataFrame) -> list[str]:
    headline = means[means["headline"].astype(bool)].drop_duplicates("metric")
    return list(dict.fromkeys(headline.sort_values("metric", key=lambda names: names.map(metric_rank))["label"]))


def _cautions(study, means: pd.DataFrame, manifests) -> list[str]:
    cautions = []
    if any(m["derived_from"] for m in study["models"].values()):
        cautions.append(
            "Models marked † are derived from another by noise on its weights; no conclusion about real models follows."
        )
    if facts.stand_ins(means):
        cautions.append(
            "Metrics marked ‡ stand in for the papers' own; their numbers are not comparable with published ones."
        )
    partial = [m for m in manifests if m["partial"]]
    if partial:
        reasons = sorted({m["partial_reason"] for m in partial})
        cautions.append(f"{len(partial)} of {len(manifests)} benchmarks are partial: {'; '.join(reasons)}.")
    return cautions


def _warnings(study, means: pd.DataFrame, joins: Sequence[str]) -> list[dict[str, Any]]:
    recorded, not_joined = facts.recorded_warnings(joins)
    answers, scores = facts.answer_warnings(means), facts.metric_warnings(means)
    stand_ins = facts.stand_ins(means)
    derived = {name: m for name, m in study["models"].items() if m["derived_from"]}
    absent = study["absent"]
    return [
        _block(
            "answers",
            "Answers",
            "Empty answers count with each metric's floor; cut answers ended at the token limit."
            if answers
            else "No answer was empty or cut, and every prompt fitted.",
            answers,
        ),
        _block(
            "scores",
            "Scores",
            "Undefined scores are left out of a mean and counted here; answers that were not parsed count as wrong."
            if scores
            else "Every score is defined; nothing was truncated, invalid or tied.",
            scores,
        ),
        _block(
            "recorded",
            "Recorded predictions",
            "What was not joined to an item is left out, and an item without a prediction is in no mean."
            if not_joined
            else f"{recorded:,} predictions were read from files; every one is an item's, and every item has one."
            if recorded
            else "No prediction was read from a file.",
            not_joined,
        ),
        _block(
            "stand-ins",
            "Stand-ins",
            "These metrics are not the papers' own." if stand_ins else "Every metric is the real one.",
            stand_ins,
        ),
        _block(
            "derived",
            "Derived models",
            "These are no models of their own." if derived else "No model is derived from another.",
            [{"model": n, "derived from": m["derived_from"], "noise": m["noise"]} for n, m in derived.items()],
        ),
        _block(
            "absent",
            "Not in this study",
            "The study has no benchmark or metric for these tables and figures."
            if absent
            else "Every table and figure has something to show.",
            absent,
        ),
    ]


def _facts(study, manifests: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    models = [
        {
            "model": n,
            "identity": m["identity"],
            "engine": m["engine"],
            "family": m["family"],
            "parameters": m["parameters"],
        }
        for n, m in study["models"].items()
    ]
    data = [_data_set(manifest) for manifest in manifests]
    costs = facts.rule_costs(study["costs"])
    return [
        _block("models", "Models", "", models),
        _block("data", "Data", "", data),
        _block("costs", "Time and memory", "Wall-clock seconds and peak memory in MB, by kind of job.", costs),
        _block(
            "versions",
            "Versions",
            f"Git commit: {facts.git_commit()}.",
            [{"package": name, "version": version} for name, version in facts.versions().items()],
        ),
    ]


def _block(identifier: str, title: str, text: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    columns = list(rows[0]) if rows else []
    return {
        "id": f"{identifier}-grid",
        "title": title,
        "text": text,
        "columns": columns,
        "rows": [[row[column] for column in columns] for row in rows],
    }


def _data_set(manifest: Mapping[str, Any]) -> dict[str, Any]:
    source = manifest.get("source", {})
    return {
        "benchmark": manifest["benchmark"],
        "title": manifest["title"],
        "items": manifest["items"],
        "source": source.get("repository") or source.get("kind", ""),
        "revision": source.get("revision") or "",
        "licence": manifest["licence"],
        "remark": manifest.get("reason") or manifest["partial_reason"],
    }
