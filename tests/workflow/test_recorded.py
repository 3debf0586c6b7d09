"""Published outputs of 21 systems, through the whole workflow, give the published figures."""

import csv
import gzip
import json
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats

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


def test_recorded_letters_of_ten_models_give_figure_8(snakemake, tmp_path, root, shared):
    """Coefficients and exact shares of PubMedQA against the accuracies that the source lists."""
    results, config = tmp_path / "results", tmp_path / "config.yaml"
    config.write_text((root / "config/recorded_medagents.yaml").read_text().replace("../shared", str(shared)))
    run = ("--profile", "profiles/local", "--nolock", "--configfile", config, "--config", f"results={results}")
    snakemake("figure08", "table20", *run)
    source = (shared / "recorded/medagents_benchmark_zero_shot/SOURCE.md").read_text()
    listed = {
        model: dict(zip(("medmcqa", "medqa", "mmlu", "pubmedqa"), map(float, numbers.split()), strict=True))
        for model, numbers in re.findall(r"([\w.-]+)((?: \d\d\.\d\d){4})[;.]", source)
    }
    assert len(listed) == 10
    table = pd.read_csv(results / "tables/table20_close_ended.csv").set_index(["benchmark", "model"])["mean"]
    for model, accuracies in listed.items():
        assert 100 * table["pubmedqa", model] == pytest.approx(accuracies["pubmedqa"])
        assert 100 * table["medmcqa", model] == pytest.approx(accuracies["medmcqa"], abs=0.03)  # 2,815 of 2,816 join
    drawn = pd.read_csv(results / "figures/fig08_elo_small_models.csv").set_index(["a", "b"])
    of_both = [[accuracies[name] for accuracies in listed.values()] for name in ("medmcqa", "pubmedqa")]
    assert drawn.loc[("medmcqa", "pubmedqa"), "pearson"] == pytest.approx(stats.pearsonr(*of_both).statistic, abs=2e-3)
    assert drawn.loc[("medmcqa", "mmlu"), "n"] == 10


def test_recorded_samples_of_five_models_give_figure_2(snakemake, tmp_path, root, shared):
    """The variance of ROUGE-1 over six samples, from the scores that the source gives for each of them."""
    results, config = tmp_path / "results", tmp_path / "config.yaml"
    config.write_text((root / "config/recorded_olaph.yaml").read_text().replace("../shared", str(shared)))
    run = ("--profile", "profiles/local", "--nolock", "--configfile", config, "--config", f"results={results}")
    snakemake("figure02_siblings", "figure16_siblings", *run)
    items = (results / "datasets/olaph_full.jsonl").read_text().splitlines()
    asked = Counter(json.loads(item)["question"].strip() for item in items)
    variances = {}
    for path in sorted((shared / "recorded/olaph_sampled_predictions").glob("pdata_*_kqa_golden_sampling.jsonl.gz")):
        with gzip.open(path, "rt") as file:
            for row in map(json.loads, file):
                if asked[row["Question"].strip()] == 1:
                    scored = [sample["rouge1_f1"] for sample in row["prediction_scores"]]
                    variances.setdefault(row["Question"], []).append(np.var(scored))
    assert {len(of_models) for of_models in variances.values()} == {5}
    drawn = pd.read_csv(results / "figures/fig02_self_consistency_olaph_full.csv")
    rouge = drawn[drawn["metric"] == "rouge1[nostem]"].set_index("statistic")
    assert rouge.loc["variance", "n_items"] == len(variances)
    # The source rounds each score to four decimals.
    assert rouge.loc["variance", "mean"] == pytest.approx(np.mean([*variances.values()]), rel=2e-3)
    assert (results / "figures/fig16_coefficient_of_variation_olaph_full.png").exists()


def sources_of(path, files):
    """Every file of the record that a file rests on."""
    found = set(files[path]["from"])
    return found.union(*(sources_of(source, files) for source in found))
