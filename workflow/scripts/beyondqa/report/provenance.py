"""From every table cell back to the bytes of its source, by SHA-256, and the check that nothing has changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import StudyError
from ..identity import file_sha256
from ..records import read_csv, read_json
from . import facts

# What names a cell of a table of scores.
CELL = ("metric", "model", "benchmark")


def provenance(
    chain: Mapping[str, Mapping[str, Any]],
    scores: Mapping[tuple[str, str, str], str],
    config: Mapping[str, Any],
    directories: Mapping[str, str],
) -> dict[str, Any]:
    """The record of a run.

    `chain`: path -> {kind, from: [paths]}, in the order of the workflow; `scores` as from `score_index`;
    `directories`: model -> its local folder, "" where there is none.
    Keys of the result: `git_commit`, `commit_date`, `versions`, `config`, `seed`, `models` (what identifies each),
    `sources` (data set -> the files it was read from, with their SHA-256), `files` (path -> kind, bytes, sha256, from)
    and `cells` (table -> its cells, each with the score file that it rests on).
    Raises StudyError where a file is missing.
    """
    files = {path: {"kind": entry["kind"], **_described(path), "from": entry["from"]} for path, entry in chain.items()}
    manifests = [path for path, entry in chain.items() if entry["kind"] == "manifest"]
    tables = [path for path, entry in chain.items() if entry["kind"] == "table" and path.endswith(".csv")]
    return {
        "study": config["study"]["name"],
        "seed": config["study"]["seed"],
        "git_commit": facts.git_commit(),
        "commit_date": facts.git_date(),
        "versions": facts.versions(),
        "config": config,
        "models": {entry["name"]: _model(entry, directories[entry["name"]]) for entry in config["models"]},
        "sources": {manifest["benchmark"]: manifest.get("source", {}) for manifest in map(read_json, manifests)},
        "files": files,
        "cells": {Path(path).stem: _cells(path, scores) for path in tables},
    }


def changes(record: Mapping[str, Any]) -> list[str]:
    """A sentence for every file of the record that is missing or has other bytes now."""
    found = []
    for path, entry in record["files"].items():
        if not os.path.exists(path):
            found.append(f"{path} ({entry['kind']}) is missing")
        elif os.path.getsize(path) != entry["bytes"] or file_sha256(path) != entry["sha256"]:
            found.append(f"{path} ({entry['kind']}) has changed{_resting(path, record)}")
    return found


def _resting(path: str, record: Mapping[str, Any]) -> str:
    """What rests on a file, the first three by name."""
    files = [p for p, entry in record["files"].items() if path in entry["from"]]
    more = f" and {len(files) - 3} more" if len(files) > 3 else ""
    return f"; made from it: {', '.join(files[:3])}{more}" if files else ""


def _described(path: str) -> dict[str, Any]:
    try:
        return {"bytes": os.path.getsize(path), "sha256": file_sha256(path)}
    except OSError as error:
        raise StudyError(error.strerror or str(error), file=path, remedy="Run the study to its end first") from error


def _model(entry: Mapping[str, Any], directory: str) -> dict[str, Any]:
    """What identifies a model: its source and commit or its derivation, and its local config.json, which for models
    that the study makes itself holds the hash of the weights."""
    keys = ("id", "revision", "path", "embedded", "derived_from", "noise", "noise_seed", "engine", "dtype", "base_url")
    known = {key: entry[key] for key in keys if key in entry}
    local = Path(directory, "config.json")
    return {**known, "config_sha256": file_sha256(local)} if directory and local.is_file() else known


def _cells(path: str, scores: Mapping[tuple[str, str, str], str]) -> list[dict[str, str]]:
    """Cells of a table that names models, benchmarks and metrics; none for other tables."""
    frame = read_csv(path)
    if not set(CELL) <= set(frame.columns):
        return []
    named = frame[list(CELL)].drop_duplicates().astype(str).to_dict("records")
    keys = [tuple(cell[name] for name in CELL) for cell in named]
    return [{**cell, "scores": scores[key]} for cell, key in zip(named, keys, strict=True) if key in scores]


def score_index(paths: Sequence[str]) -> dict[tuple[str, str, str], str]:
    """(metric, model, benchmark) -> the score file that holds these scores."""
    import pyarrow.parquet as pq

    index = {}
    for path in paths:
        named = pq.read_table(path, columns=list(CELL)).group_by(list(CELL)).aggregate([])
        index |= {tuple(row[name] for name in CELL): path for row in named.to_pylist()}
    return index


def crate(record: Mapping[str, Any], root: str | Path) -> dict[str, Any]:
    """The same record as an RO-Crate description of the results folder `root`, for other tools."""
    from rocrate.model.contextentity import ContextEntity
    from rocrate.rocrate import ROCrate

    described = ROCrate()
    described.name = f"Beyond-QA: {record['study']}"
    described.description = "Results of the study, with the SHA-256 of every file."
    software = described.add(
        ContextEntity(
            described,
            "#beyond-qa",
            properties={"@type": "SoftwareApplication", "name": "Beyond-QA", "softwareVersion": record["git_commit"]},
        )
    )
    entities = {}
    for path, entry in record["files"].items():
        properties = {"name": Path(path).name, "contentSize": str(entry["bytes"]), "sha256": entry["sha256"]}
        properties["additionalType"] = entry["kind"]
        entities[path] = described.add_file(dest_path=os.path.relpath(path, root), properties=properties)
    made = _made(record["files"])
    described.add_action(
        software,
        identifier="#run",
        object=[entities[path] for path in record["files"] if path not in made],
        result=[entities[path] for path in made],
        properties={"name": "Run of the study", "description": f"seed {record['seed']}"},
    )
    return _dated(described.metadata.generate(), record["commit_date"])


def _made(files: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [path for path, entry in files.items() if entry["from"]]


def _dated(document: dict[str, Any], date: str) -> dict[str, Any]:
    """The commit's date for that of this call, so that equal results have equal descriptions."""
    for entity in document["@graph"]:
        if "datePublished" in entity:
            entity["datePublished"] = date
    return document


def reported(found: Iterable[str]) -> str:
    """The changes as one text, or that there are none."""
    lines = list(found)
    if not lines:
        return "Every file is what the record says."
    return "\n".join([f"{len(lines)} of the recorded files differ:", *(f"  - {line}" for line in lines)])
