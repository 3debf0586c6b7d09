"""Published outputs of 21 systems, through the whole workflow, give the published figures."""

import csv
import json

import pandas as pd
import pytest

# Rows of the first block of the source's table for its second test set, in its order (SOURCE.md beside it says
# which file of predictions belongs to which row).
MODELS = [
    "longest-speaker-turn",
    "longest-doctor-turn",
    "12-speaker-turns",
    "12-doctor-turns",
    "transcript",
    "train-UMLS",
    "train-sent",
    "BART",
    "BART-Division",
    "BART-FT-SAMSum",
    "BART-FT-SAMSum-Division",
    "BioBART",
    "BioBART-Division",
    "LED",
    "LED-Division",
    "LED-FT-PubMed",
    "LED-FT-PubMed-Division",
    "Text-Davinci-002",
    "Text-Davinci-003",
    "ChatGPT",
    "GPT-4",
]
METRICS = ["rouge1[nostem]", "rouge2[nostem]", "rougeLsum[nostem]"]


@pytest.fixture(scope="module")
def published(shared):
    """Model -> ROUGE-1, ROUGE-2 and the summary-level ROUGE-L, percent, from the source's table."""
    with open(shared / "recorded/aci_bench_baselines/tables/test2.csv", newline="") as file:
        rows = [row for row in csv.reader(file) if len(row) == 8 and row[1] != "ROUGE-1"]
    return {model: [float(cell) for cell in row[1:4]] for model, row in zip(MODELS, rows, strict=False)}


def test_recorded_notes_reproduce_the_published_rouge(snakemake, tmp_path, published, root, shared):
    results, config = tmp_path / "results", tmp_path / "config.yaml"
    config.write_text((root / "config/recorded_aci.yaml").read_text().replace("../shared", str(shared)))
    snakemake("--profile", "profiles/local", "--nolock", "--configfile", config, "--config", f"results={results}")
    means = pd.read_csv(results / "statistics/means/lexical/note_taking.csv").set_index(["model", "metric"])["mean"]
    assert len(published) == 21
    ours = {model: [round(100 * means[model, metric], 2) for metric in METRICS] for model in published}
    assert ours == published
    assert (results / "figures/fig10_metric_correlations_aci_bench_test2.png").exists()
    assert (results / "report.html").stat().st_size > 100_000
    assert "Sensitivity of the metrics" in (results / "report.html").read_text()

    edited = pd.read_csv(results / "tables/sensitivity.csv").groupby("source")["n_items"].max().to_dict()
    assert edited == {"reference": 40, "recorded answer": 40}
    files = json.loads((results / "provenance.json").read_text())["files"]
    found = sources_of(str(results / "tables/sensitivity.csv"), files)
    assert str(results / "datasets/aci_bench_test2.jsonl") in found
    assert str(results / "inference/greedy/GPT-4/note_taking/1-of-1.jsonl") in found


def sources_of(path, files):
    """Every file of the record that a file rests on."""
    found = set(files[path]["from"])
    return found.union(*(sources_of(source, files) for source in found))
