"""Provenance: hashes are those of the files, a cell finds its way back to its source, a change is named."""

import hashlib
import subprocess

import pytest

from beyondqa.errors import StudyError
from beyondqa.items import Score
from beyondqa.metrics.base import Metric
from beyondqa.records import scores_frame, write_csv, write_json, write_parquet
from beyondqa.report.provenance import changes, crate, provenance, reported, score_index
from beyondqa.statistics.scores import metrics_metadata

ROUGE = Metric("rouge1[nostem]", "ROUGE-1", True, 0.0, 1.0)
CONFIG = {
    "study": {"name": "s", "seed": 3},
    "models": [{"name": "m", "engine": "vllm", "id": "a/b", "revision": "c" * 40}],
}


@pytest.fixture
def run(tmp_path):
    """A run of four files, each made from the one before."""
    paths = {name: str(tmp_path / name) for name in ("d.jsonl", "d.manifest.json", "a.jsonl", "s.parquet", "t.csv")}
    (tmp_path / "d.jsonl").write_text("items\n")
    (tmp_path / "a.jsonl").write_text("answers\n")
    source = {"kind": "hub", "files": [{"name": "x.parquet", "sha256": "e" * 64}]}
    write_json(paths["d.manifest.json"], {"benchmark": "d", "source": source})
    scores = [Score("d:1", "d", "m", "greedy", 0, ROUGE.name, 0.5)]
    write_parquet(paths["s.parquet"], scores_frame(scores), metrics_metadata({ROUGE.name: ROUGE}))
    import pandas as pd

    write_csv(paths["t.csv"], pd.DataFrame([{"model": "m", "benchmark": "d", "metric": ROUGE.name, "mean": 0.5}]))
    chain = {
        paths["d.jsonl"]: {"kind": "data set", "from": []},
        paths["d.manifest.json"]: {"kind": "manifest", "from": []},
        paths["a.jsonl"]: {"kind": "answers", "from": [paths["d.jsonl"]]},
        paths["s.parquet"]: {"kind": "scores", "from": [paths["a.jsonl"], paths["d.jsonl"]]},
        paths["t.csv"]: {"kind": "table", "from": [paths["s.parquet"]]},
    }
    return paths, chain


@pytest.fixture
def record(run):
    paths, chain = run
    return provenance(chain, score_index([paths["s.parquet"]]), CONFIG, {"m": ""})


def test_hashes_are_those_of_another_tool(run, record):
    paths, _ = run
    for path in paths.values():
        judge = subprocess.run(["sha256sum", path], check=True, capture_output=True, text=True).stdout.split()[0]
        assert record["files"][path]["sha256"] == judge


def test_a_cell_leads_back_to_the_bytes_of_its_source(run, record):
    paths, _ = run
    (cell,) = record["cells"]["t"]
    assert (cell["model"], cell["benchmark"], cell["metric"]) == ("m", "d", ROUGE.name)
    assert cell["scores"] == paths["s.parquet"]
    answers, items = sorted(record["files"][cell["scores"]]["from"])
    assert (answers, items) == (paths["a.jsonl"], paths["d.jsonl"])
    assert record["sources"]["d"]["files"][0]["sha256"] == "e" * 64
    assert record["models"]["m"]["revision"] == "c" * 40
    assert record["seed"] == 3


def test_the_model_that_the_study_made_is_told_by_its_config(tmp_path, run):
    _, chain = run
    (tmp_path / "config.json").write_text("{}")
    record = provenance(chain, {}, CONFIG, {"m": str(tmp_path)})
    assert record["models"]["m"]["config_sha256"] == hashlib.sha256(b"{}").hexdigest()


def test_nothing_changed(record):
    assert changes(record) == []
    assert reported([]) == "Every file is what the record says."


def test_a_changed_byte_is_named_with_what_rests_on_it(run, record):
    paths, _ = run
    with open(paths["d.jsonl"], "r+b") as file:
        file.write(b"I")  # the size stays
    assert changes(record) == [
        f"{paths['d.jsonl']} (data set) has changed; made from it: {paths['a.jsonl']}, {paths['s.parquet']}"
    ]


def test_a_missing_file_is_named(run, record, tmp_path):
    paths, _ = run
    (tmp_path / "a.jsonl").unlink()
    assert changes(record) == [f"{paths['a.jsonl']} (answers) is missing"]
    assert "1 of the recorded files differ" in reported(changes(record))


def test_a_run_that_is_not_finished_cannot_be_recorded(run, tmp_path):
    _, chain = run
    (tmp_path / "t.csv").unlink()
    with pytest.raises(StudyError, match=r"t\.csv: No such file.*Run the study to its end first"):
        provenance(chain, {}, CONFIG, {"m": ""})


def test_the_crate_lists_every_file_with_its_hash_and_the_commits_date(record, run, tmp_path):
    paths, _ = run
    described = crate(record, tmp_path)
    graph = {entity["@id"]: entity for entity in described["@graph"]}
    assert described["@context"].startswith("https://w3id.org/ro/crate/1.")
    for path, entry in record["files"].items():
        name = path.rsplit("/", 1)[-1]
        assert graph[name]["sha256"] == entry["sha256"]
        assert graph[name]["@type"] == "File"
    assert {part["@id"] for part in graph["./"]["hasPart"]} == {path.rsplit("/", 1)[-1] for path in paths.values()}
    assert {part["@id"] for part in graph["#run"]["result"]} == {"a.jsonl", "s.parquet", "t.csv"}
    assert [entity["datePublished"] for entity in graph.values() if "datePublished" in entity] == [
        record["commit_date"]
    ]
    assert described == crate(record, tmp_path)
