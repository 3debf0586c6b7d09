"""Every table and figure of studies with gaps: it appears with its gaps named, or says why it cannot."""

import functools
import importlib.util
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from beyondqa import figures, metrics, tables
from beyondqa.config import validated
from beyondqa.entqa import analyses
from beyondqa.overview import overview
from beyondqa.records import write_csv, write_json, write_parquet
from beyondqa.statistics.against import accuracy_correlations
from beyondqa.statistics.aggregation import means
from beyondqa.statistics.dispersion import KINDS, dispersion
from beyondqa.statistics.inputs import Inputs
from beyondqa.statistics.matrices import analyse_metrics, benchmark_matrix
from beyondqa.statistics.scores import metrics_metadata, read_with_metrics
from beyondqa.study import Study
from beyondqa.tables.base import write as write_table

ROOT = Path(__file__).resolve().parents[2]
MODELS = [f"model-{i}" for i in range(6)]
TASKS = ["multiple_choice", "open_questions", "diagnosis_treatment", "note_taking", "factuality", "entqa"]
CONFIG = {
    "study": {"name": "gaps", "seed": 1},
    "models": [
        {"name": m, "id": f"x/{m}", "engine": "vllm", "parameters": 7.0 + i, "context": 2048, "family": f"f{i % 3}"}
        for i, m in enumerate(MODELS)
    ],
    "groups": {
        "metric_study": {"models": MODELS, "tasks": TASKS},
        "small_elo": {"models": MODELS, "tasks": ["multiple_choice"]},
    },
    "benchmarks": {
        name: {}
        for name in (
            "medmcqa",
            "medqa",
            "careqa",
            "careqa_open",
            "mediqa2019",
            "medtext",
            "mts_dialog",
            "olaph",
            "entqa_medqa",
        )
    },
    "inference": {
        "packs": "all",
        "samples": {"benchmarks": ["careqa_open"], "count": 3},
        "rephrased": {"benchmarks": ["mediqa2019"], "count": 2, "rephraser": MODELS[0]},
        "rephrased_again": {"benchmarks": ["mediqa2019"], "count": 2, "rephraser": MODELS[1]},
        "relaxed": {
            "benchmarks": ["olaph", "medtext"],
            "tokens": 32,
            "stride": 16,
            "best": 2,
            "samples": 4,
            "seeds": 2,
        },
        "judged": {"benchmarks": ["mediqa2019", "careqa_open"], "judge": MODELS[0]},
    },
    "metrics": {
        "accuracy": {},
        "perplexity": {},
        "relaxed_perplexity": {},
        "length": {},
        "rouge": {},
        "bleu": {},
        "bleurt": {"checkpoints": [{"name": "bleurt-base-512", "id": "x/bleurt"}]},
        "judge": {},
        "entqa": {
            "extractor": {"name": "dictionary", "kind": "dictionary"},
            "embedder": {"name": "all-minilm-l6-v2", "embedded": True},
        },
    },
}
STUDY = Study(validated(CONFIG))
FINISHED = ("medqa", "mts_dialog")
NULL = ("accuracy", "rouge1", "word_perplexity", "relaxed_perplexity", "bleurt", "judge", "length", "entqa_b")


def keep(column, values):
    return lambda frame: frame[frame[column].isin(values)]


def without_values(prefixes):
    def change(frame):
        null = frame["metric"].str.startswith(prefixes)
        return frame.assign(value=frame["value"].mask(null), reason=np.where(null, "not defined", ""))

    return change


SCENARIOS = {
    "as it should be": lambda frame: frame,
    "missing models": keep("model", MODELS[:3]),
    "benchmarks that no model finished": keep("benchmark", FINISHED),
    "null columns": without_values(NULL),
    "nothing but null": without_values(("",)),
    "one model": keep("model", MODELS[:1]),
    "equal scores": lambda frame: frame.assign(value=1.0),
    "no score": lambda frame: frame.iloc[:0],
}


@pytest.fixture(scope="module")
def study_with(tmp_path_factory):
    """Scenario -> need -> files, made from simulated scores by the functions that the workflow's scripts call."""
    specification = importlib.util.spec_from_file_location("simulate_scores", ROOT / "benchmarks/simulate_scores.py")
    simulate = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(simulate)
    datasets = tmp_path_factory.mktemp("study")
    simulate.write_datasets(STUDY, datasets, 6)
    described = {k: m for f in STUDY.families for k, m in metrics.describe(STUDY.metric_modules(f)).items()}
    frames = {}
    for family, stage, _, _, frame in simulate.scored(STUDY, 6):
        frames.setdefault("entqa" if family == "entqa" else stage, []).append(frame)

    @functools.cache
    def made(scenario):
        folder = tmp_path_factory.mktemp("study")
        for name, parts in frames.items():
            frame = pd.concat(parts, ignore_index=True)
            held = {metric: described[metric] for metric in frame["metric"].unique()}
            write_parquet(folder / f"{name}.parquet", SCENARIOS[scenario](frame), metrics_metadata(held))
        return statistics(folder) | {
            "datasets": sorted(datasets.glob("datasets/*.jsonl")),
            "careqa": [datasets / f"datasets/{name}.jsonl" for name in ("careqa", "careqa_open")],
            "manifests": sorted(datasets.glob("datasets/*.manifest.json")),
            # A study need not have these.
            **{need: [] for need in ("construction", "human_evaluation")},
        }

    return made


def statistics(folder):
    paths = {path.stem: path for path in folder.glob("*.parquet")}
    scores, metrics = read_with_metrics([paths[name] for name in ("likelihoods", "greedy", "relaxed", "entqa")])
    files = {}

    def kept(need, frame):
        write_csv(folder / f"{need}.csv", frame)
        files[need] = [folder / f"{need}.csv"]

    kept("means", means(scores, metrics, {}, seed=1, draws=20))
    frame = pd.read_csv(folder / "means.csv")
    families = {entry["name"]: entry["family"] for entry in CONFIG["models"]}
    sizes = {entry["name"]: entry["parameters"] for entry in CONFIG["models"]}
    found = analyse_metrics(scores, metrics, {}, families, seed=1, draws=20, splits=20)
    for need, name in {"metric_correlations": "pairs"}.items() | {
        n: n for n in ("stability", "families", "clusters")
    }.items():
        kept(need, getattr(found, name))
    kept("benchmark_correlations", benchmark_matrix(frame))
    kept("accuracy_correlations", accuracy_correlations(frame, ["medmcqa", "medqa", "careqa"], sizes, families))
    for kind, stages in KINDS.items():
        repeated, described = read_with_metrics([paths[stage] for stage in stages])
        write_parquet(folder / f"{kind}.parquet", dispersion(repeated, described), metrics_metadata(described))
        files[kind] = [folder / f"{kind}.parquet"]
    entqa, described = read_with_metrics([paths["entqa"]])
    cases = analyses.case_frame(entqa, sizes)
    kept("entqa_answers", analyses.answers(entqa))
    kept("entqa_group_level", analyses.described(analyses.group_level(cases), described))
    for name in ("case_level", "scale", "size_groups"):
        kept(f"entqa_{name}", analyses.described(getattr(analyses, name)(cases, seed=1, draws=20), described))
    write_json(folder / "overview.json", overview(STUDY))
    return files | {"overview": [folder / "overview.json"], "relaxed_scores": [paths["relaxed"]]}


def inputs_of(analysis, files):
    covered = [name for name, benchmark in STUDY.benchmarks.items() if analysis.covers(benchmark)]
    described = {
        n: {k: getattr(STUDY.benchmarks[n], k) for k in ("title", "task", "kind", "truncation_side")} for n in covered
    }
    models = {
        entry["name"]: {"label": entry["name"], "derived_from": "", "noise": None, **entry}
        for entry in CONFIG["models"]
    }
    resources = [ROOT / path for path in analysis.resources]
    groups = {name: group["models"] for name, group in CONFIG["groups"].items()}
    return Inputs({**files, "resources": resources}, models, described, STUDY.families, groups, seed=1)


def says_nothing_undefined(texts):
    found = [text for text in map(str, texts) if re.search(r"\b(nan|None|NaN|<NA>|inf)\b", text)]
    assert not found, found[:3]


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("table", tables.collection(), ids=lambda table: table.name)
def test_every_table_names_its_gaps(table, scenario, study_with, tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    sheet = table.build(inputs_of(table, study_with(scenario)))
    write_table(table, sheet, tmp_path / "t")
    assert len(sheet.display) or sheet.data["reason"].tolist() == [sheet.notes[0]]
    says_nothing_undefined([*sheet.display.to_numpy().ravel(), *sheet.notes])


ONE_OF_EACH = list({(figure.module, bool(figure.subject)): figure for figure in figures.collection(STUDY)}.values())


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("figure", ONE_OF_EACH, ids=lambda figure: figure.name)
def test_every_figure_names_its_gaps(figure, scenario, study_with, monkeypatch):
    monkeypatch.chdir(ROOT)
    drawing = figure.draw(inputs_of(figure, study_with(scenario)))
    assert len(drawing.data)
    if list(drawing.data.columns) == ["reason"]:
        assert drawing.data["reason"].tolist() == [drawing.notes[0]]
    says_nothing_undefined(drawing.notes)
    drawing.picture.draw_without_rendering()
