"""The release of a run gives every table again, byte for byte, in a folder that holds nothing else."""

import csv

import pytest
import yaml

from beyondqa.loading import load

BENCHMARKS = ("careqa_open", "medtext")
ANSWERS = {
    "copies": lambda text: text,
    "shortens": lambda text: " ".join(text.split()[:5]),
    "repeats": lambda text: f"{text} {text}",
    "silent": lambda text: "",
    "unrelated": lambda text: "The weather is fine today.",
}


@pytest.fixture(scope="module")
def config(root, tmp_path_factory):
    """Five sets of recorded answers to the demo's items of two benchmarks, from perfect to silent."""
    folder = tmp_path_factory.mktemp("release")
    models = {name: {"name": name, "engine": "recorded", "family": name, "predictions": {}} for name in ANSWERS}
    for benchmark in BENCHMARKS:
        items = load(
            benchmark,
            hub_mirror="none",
            originals="none",
            rows=root / "resources/demo",
            prompt=root / f"resources/prompts/{benchmark}.txt",
            seed=1,
        ).items
        for model, answer in ANSWERS.items():
            path = folder / f"{model}-{benchmark}.csv"
            with open(path, "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["id", "text"])
                writer.writerows([item.id, answer(item.reference)] for item in items)
            models[model]["predictions"][benchmark] = {"path": str(path), "id": "id", "text": "text"}
    study = {
        "study": {"name": "release", "seed": 1},
        "rows": "resources/demo",
        "models": list(models.values()),
        "groups": {"metric_study": {"models": list(ANSWERS), "tasks": ["open_questions", "diagnosis_treatment"]}},
        "benchmarks": {name: {} for name in BENCHMARKS},
        "inference": {"packs": "all"},
        "metrics": {"length": {}, "rouge": {}, "bleu": {}},
    }
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(study, sort_keys=False))
    return path


def test_every_table_comes_again_from_the_release(snakemake, config, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    run = ("--configfile", config, "--cores", "2", "--quiet", "rules")
    snakemake("tables", "release", *run, "--config", f"results={first}")
    (archive,) = (first / "release").iterdir()
    for path in config.parent.glob("*.csv"):
        path.unlink()  # what the answers came from is gone: nothing but the release can give them
    snakemake("tables", *run, "--config", f"results={second}", f"from_release={archive}")
    tables = sorted(path.name for path in (first / "tables").iterdir())
    assert "table16_careqa_open.csv" in tables
    assert tables == sorted(path.name for path in (second / "tables").iterdir())
    for name in tables:
        assert (first / "tables" / name).read_bytes() == (second / "tables" / name).read_bytes(), name
    scores = (first / "tables" / "table16_careqa_open.md").read_text()
    assert "| copies |" in scores
