"""EntQA's tables and figures from small statistics: what a cell shows, and what stands in for nothing."""

import json

import numpy as np
import pandas as pd
import pytest

from beyondqa import figures, tables
from beyondqa.benchmarks import get as benchmark
from beyondqa.entqa import analyses
from beyondqa.figures.base import write as write_figure
from beyondqa.records import write_csv, write_json
from beyondqa.statistics.inputs import Inputs
from beyondqa.tables.base import write as write_table

MODELS = {
    f"m{size}": {"label": f"M {size}", "family": "", "derived_from": "", "noise": None, "parameters": size}
    for size in (0.5, 1.5, 3, 7, 14, 32, 72)
}
METRICS = {
    "entqa_b[as_coded,dictionary,all-minilm-l6-v2]": ("EntQA_b", "the paper's EntQA"),
    "entqa_b[as_published,dictionary,all-minilm-l6-v2]": ("EntQA_b (as_published)", "the paper's EntQA"),
    "length[explanation]": ("Length (words)", ""),
    "bleu_precision4[13a,question]": ("4-gram precision", ""),
    "bleu[evaluate,13a,nosmooth,question]": ("BLEU", ""),
}
BENCHMARKS = ("entqa_medqa", "entqa_usmle_step3")


@pytest.fixture(scope="module")
def cases():
    random = np.random.default_rng(3)
    rows = [
        {
            "benchmark": name,
            "item_id": f"{name}:{i}",
            "model": model,
            "size": float(entry["parameters"]),
            "accuracy": float(random.random() < 0.3 + entry["parameters"] / 150),
            "length": float(random.integers(20, 300)),
            **{metric: random.random() + entry["parameters"] / 100 for metric in METRICS},
        }
        for name in BENCHMARKS
        for i in range(12)
        for model, entry in MODELS.items()
    ]
    return pd.DataFrame(rows)


@pytest.fixture(scope="module")
def inputs(cases, root, tmp_path_factory):
    folder = tmp_path_factory.mktemp("statistics")
    found = {
        "group_level": analyses.group_level(cases),
        "case_level": analyses.case_level(cases, seed=1, draws=50),
        "scale": analyses.scale(cases, seed=1, draws=50),
        "size_groups": analyses.size_groups(cases, seed=1, draws=50),
    }
    for name, table in found.items():
        labels = {
            "label": table["metric"].map(lambda m: METRICS[m][0]),
            "stand_in": table["metric"].map(lambda m: METRICS[m][1]),
        }
        write_csv(folder / f"{name}.csv", table.assign(headline=True, **labels))
    grid = pd.DataFrame(
        [
            {
                "benchmark": BENCHMARKS[0],
                "kind": kind,
                "cosine": c,
                "overlap": o,
                "n": 7,
                "spearman": c - o,
                "p_spearman": 0.2,
            }
            for kind in ("entqa_b", "entqa_q")
            for c in (0.6, 0.7)
            for o in (0.0, 0.3)
        ]
    )
    write_csv(folder / "thresholds.csv", grid.assign(variant="as_coded", strict_overlap=False, reason=None))
    side = {
        "text": "A $5 cough",
        "covered": ["cough"],
        "missing": ["$5"],
        "spans": {"cough": [[5, 10]], "$5": [[2, 4]]},
    }
    case = {"item_id": "x", "benchmark": BENCHMARKS[0], "model": "m7", "gold": "A", "letter": None, "problem": ""}
    sides = dict.fromkeys(("background", "question", "explanation"), side)
    write_json(folder / "cases.json", {"variant": "v", "cases": [[{**case, "variants": {"v": sides}}]]})
    files = {f"entqa_{name}": [folder / f"{name}.csv"] for name in [*found, "thresholds"]}
    files["entqa_cases"] = [folder / "cases.json"]
    write_json(folder / "signature.json", {"extractor": {"name": "a-tagger"}, "embedder": {"name": "an-encoder"}})
    files["entqa_signature"] = [folder / "signature.json"]

    def of(analysis):
        resources = [root / path for path in analysis.resources]
        titles = {
            name: {"title": benchmark(name).title, "task": "entqa", "kind": "multiple_choice"} for name in BENCHMARKS
        }
        return Inputs({**files, "resources": resources}, MODELS, titles, ["entqa"], {}, 1)

    return of


def test_table_1_puts_the_published_value_beside(inputs, tmp_path):
    table = tables.get("entqa_table1")
    sheet = table.build(inputs(table))
    row = sheet.data.set_index(["benchmark", "metric"]).loc[("entqa_medqa", next(iter(METRICS)))]
    assert (row["spearman_published"], row["kendall_published"]) == (0.8571, 0.7143)
    assert row["spearman_difference"] == pytest.approx(row["spearman"] - 0.8571)
    shown = sheet.display
    (cells,) = shown[(shown["Benchmark"] == "MedQA (EntQA)") & (shown["Metric"] == "EntQA_b‡")].to_dict("records")
    assert cells["Published (Kendall)"] == "+0.714"
    assert cells["Difference (Kendall)"] == f"{row['kendall'] - 0.7143:+.3f}"
    assert float(cells["q"]) == pytest.approx(row["spearman_q"], abs=5e-5)
    assert row["spearman_q"] >= row["spearman_p"]
    assert {"BLEU-4", "Length (words)"} <= set(shown["Metric"])
    assert "BLEU" not in set(shown["Metric"])
    assert "bleu[evaluate,13a,nosmooth,question]" in set(sheet.data["metric"])
    over_all = shown[shown["Benchmark"].str.startswith("All")].set_index("Metric")["Spearman"]
    values = sheet.data.loc[sheet.data["metric"] == "length[explanation]", "spearman"]
    assert over_all["Length (words)"] == f"{values.mean():+.3f}, {values.abs().mean():.3f}"
    write_table(table, sheet, tmp_path / "t")
    assert "stands in for the paper's EntQA" in (tmp_path / "t.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "column", "published"), [("entqa_table2", "point_biserial", 0.09), ("entqa_table3", "spearman", 0.252)]
)
def test_tables_2_and_3_put_the_published_value_beside(inputs, tmp_path, name, column, published):
    table = tables.get(name)
    sheet = table.build(inputs(table))
    row = sheet.data.set_index(["benchmark", "metric"]).loc[("entqa_usmle_step3", next(iter(METRICS)))]
    assert row[f"{column}_published"] == published
    assert row[f"{column}_difference"] == pytest.approx(row[column] - published)
    assert {"q (naive)", "Published", "Difference"} <= set(sheet.display)
    assert len(sheet.display) == 2 * 4
    write_table(table, sheet, tmp_path / "t")
    assert json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["display"]["rows"]


def test_the_published_checks_need_no_score(inputs):
    table = tables.get("entqa_published")
    sheet = table.build(inputs(table))
    assert sheet.display["Statement"].str.startswith("Step 3: EntQA_b").any()
    assert any("285 of 290" in note for note in sheet.notes)
    assert any("658 answers are printed, its p-values fit 656 to 656" in note for note in sheet.notes)


@pytest.mark.parametrize("name", ["entqa_table1", "entqa_table2", "entqa_table3", "entqa_answers"])
def test_a_study_without_scores_says_so(name):
    table = tables.get(name)
    assert "No EntQA score" in table.build(Inputs({}, {}, {})).notes[0]
    assert table.covers(benchmark("entqa_medqa"))
    assert not table.covers(benchmark("medqa"))


@pytest.mark.parametrize("name", ["entqa_size_groups", "entqa_thresholds", "entqa_case", "entqa_pipeline"])
def test_figures_are_drawn(inputs, tmp_path, name):
    figure = figures.get(name)
    drawing = figure.draw(inputs(figure))
    assert len(drawing.data)
    write_figure(figure, drawing, tmp_path / "f")
    assert (tmp_path / "f.png").stat().st_size > 5000


@pytest.mark.parametrize("name", ["entqa_size_groups", "entqa_thresholds", "entqa_case", "entqa_pipeline"])
def test_figures_without_scores_say_so(name):
    figure = figures.get(name)
    assert "reason" in figure.draw(Inputs({}, {}, {"entqa_medqa": {"title": "MedQA"}})).data.columns


def test_the_pipeline_names_the_study_s_extractor_and_embedder(inputs):
    figure = figures.get("entqa_pipeline")
    texts = " ".join(text.get_text() for axes in figure.draw(inputs(figure)).picture.axes for text in axes.texts)
    assert "a-tagger" in texts
    assert "an-encoder" in texts


def test_size_groups_name_the_metrics_as_the_tables_do(inputs):
    figure = figures.get("entqa_size_groups")
    drawing = figure.draw(inputs(figure))
    assert [axes.get_legend_handles_labels()[1] for axes in drawing.picture.axes] == [
        ["EntQA_b‡", "Length (words)"],
        ["BLEU-4"],
    ]


def test_thresholds_draw_the_numbers_that_they_have(inputs):
    figure = figures.get("entqa_thresholds")
    drawing = figure.draw(inputs(figure))
    texts = {text.get_text() for axes in drawing.picture.axes for text in axes.texts}
    assert {".60", ".70", ".30", ".40"} <= texts
