"""Tables of scores: what a reader sees, what the CSV holds, and what becomes of gaps."""

import json

import pandas as pd
import pytest

from beyondqa import tables
from beyondqa.benchmarks.base import TASKS
from beyondqa.errors import StudyError
from beyondqa.metrics.base import Metric
from beyondqa.records import read_csv, scores_frame, write_csv, write_json, write_parquet, write_records
from beyondqa.statistics.aggregation import means
from beyondqa.statistics.inputs import Inputs
from beyondqa.statistics.scores import metrics_metadata, read_with_metrics
from beyondqa.tables import table06
from beyondqa.tables.base import latex, markdown, write

from beyondqa.items import OpenItem, Score  # isort: skip

ROUGE = Metric("rouge1[nostem]", "ROUGE-1", True, 0.0, 1.0, floor=0.0)
STAND_IN = Metric("bertscore_f1[mini,L6]", "BERTScore (mini)", True, -1.0, 1.0, stand_in="roberta-large")
HIDDEN = Metric("rougeLsum[nostem]", "ROUGE-Lsum", True, 0.0, 1.0, headline=False)
ACCURACY = Metric("accuracy", "Accuracy", True, 0.0, 1.0)
METRICS = {m.name: m for m in (ROUGE, STAND_IN, HIDDEN, ACCURACY)}
MODELS = {
    "Llama-3.1-8B-Instruct": {"label": "Llama-3.1-8B", "derived_from": "", "noise": None},
    "noisy": {"label": "noisy", "derived_from": "Llama-3.1-8B-Instruct", "noise": 0.1},
    "silent": {"label": "silent", "derived_from": "", "noise": None},
}
BENCHMARKS = {
    "careqa_open": {"title": "CareQA-Open", "task": "open_questions", "kind": "open", "truncation_side": "left"},
    "medqa": {"title": "MedQA", "task": "multiple_choice", "kind": "multiple_choice"},
}


def rows(metric, benchmark, model, values, flags=()):
    reason = "undefined"
    return [
        Score(f"{benchmark}:{i}", benchmark, model, "greedy", 0, metric, v, 1.0, flags, "" if v is not None else reason)
        for i, v in enumerate(values)
    ]


@pytest.fixture
def inputs(tmp_path):
    """Inputs over score rows, through the same files that the workflow writes."""

    def made(scores, benchmark, models=MODELS, partial=""):
        write_parquet(tmp_path / "s.parquet", scores_frame(scores), metrics_metadata(METRICS))
        write_csv(tmp_path / "means.csv", means(*read_with_metrics([tmp_path / "s.parquet"]), {}, seed=1))
        manifest = {"benchmark": benchmark, "available": True, "partial": bool(partial), "partial_reason": partial}
        write_json(tmp_path / "manifest.json", manifest)
        (tmp_path / "published.csv").write_text(
            "model,benchmark,metric,published,source\n"
            'Llama-3.1-8B-Instruct,medqa,accuracy,0.6371,"arXiv 2505.04388, table 9"\n'
        )
        files = {
            "means": [tmp_path / "means.csv"],
            "manifests": [tmp_path / "manifest.json"],
            "resources": [tmp_path / "published.csv"],
        }
        return Inputs(files, models, {benchmark: BENCHMARKS[benchmark]}, ["lexical", "bertscore"])

    return made


def test_cells_hold_mean_and_interval_and_the_csv_more(inputs, tmp_path):
    scores = rows(ROUGE.name, "careqa_open", "Llama-3.1-8B-Instruct", [0.2, 0.4, 0.6])
    scores += rows(ROUGE.name, "careqa_open", "noisy", [0.1, 0.1, 0.1])
    sheet = tables.get("table16").build(inputs(scores, "careqa_open"))
    first = sheet.display.iloc[0]
    assert first["Model"] == "Llama-3.1-8B"
    assert first["ROUGE-1"].startswith("0.400 [")
    assert sheet.display["Model"].tolist() == ["Llama-3.1-8B", "noisy†"]
    write(tables.get("table16"), sheet, tmp_path / "t")
    data = read_csv(tmp_path / "t.csv")
    assert data["mean"].tolist() == pytest.approx([0.4, 0.1])
    assert data["n"].tolist() == [3, 3]
    assert data.loc[1, "derived_from"] == "Llama-3.1-8B-Instruct"
    notes = " ".join(sheet.notes)
    assert "noisy is Llama-3.1-8B-Instruct with noise 0.1" in notes
    assert "Models without any score here: silent." in notes
    assert "Not scored in this study: MoverScore" in notes


def test_stand_ins_partial_benchmarks_and_empty_answers_are_named(inputs):
    scores = rows(STAND_IN.name, "careqa_open", "Llama-3.1-8B-Instruct", [0.2, 0.4])
    scores += rows(ROUGE.name, "careqa_open", "Llama-3.1-8B-Instruct", [0.0, 0.0], flags=("empty",))
    sheet = tables.get("table16").build(inputs(scores, "careqa_open", partial="the first 2 of 2769 items"))
    assert "BERTScore (mini)‡" in sheet.display.columns
    assert sheet.display.loc[0, "Benchmark"] == "CareQA-Open (partial)"
    notes = " ".join(sheet.notes)
    assert "BERTScore (mini) stands in for roberta-large" in notes
    assert "Partial (CareQA-Open): the first 2 of 2769 items." in notes
    assert "2 empty answers count with the metric's floor" in notes


def test_prompts_that_were_cut_are_counted_with_their_side(inputs):
    scores = rows(ROUGE.name, "careqa_open", "Llama-3.1-8B-Instruct", [0.3, 0.5], flags=("prompt_cut",))
    scores += rows(ROUGE.name, "careqa_open", "noisy", [0.2, 0.4])
    sheet = tables.get("table16").build(inputs(scores, "careqa_open"))
    note = "Prompts that exceeded the model's context and were cut: 2 of CareQA-Open on the left (Llama-3.1-8B)."
    assert note in sheet.notes
    assert sheet.data["n_prompt_cut"].tolist() == [2, 0]
    assert not any("exceeded" in n for n in tables.get("table16").build(inputs(scores[2:], "careqa_open")).notes)


def test_variants_beside_the_headline_stay_out(inputs):
    scores = rows(HIDDEN.name, "careqa_open", "Llama-3.1-8B-Instruct", [0.2, 0.4])
    scores += rows(ROUGE.name, "careqa_open", "Llama-3.1-8B-Instruct", [0.3, 0.5])
    sheet = tables.get("table16").build(inputs(scores, "careqa_open"))
    assert list(sheet.display.columns) == ["Benchmark", "Model", "ROUGE-1"]


def test_published_figures_stand_beside_ours(inputs):
    scores = rows(ACCURACY.name, "medqa", "Llama-3.1-8B-Instruct", [1, 0, 1, 0])
    sheet = tables.get("table20").build(inputs(scores, "medqa"))
    assert "(published: 0.637)" in sheet.display.loc[0, "MedQA"]
    assert sheet.data.loc[0, "difference"] == pytest.approx(0.5 - 0.6371)
    assert sheet.links == (("", "Llama-3.1-8B-Instruct\tmedqa"),)


def test_all_null_column_is_a_dash_with_its_reason(inputs):
    scores = rows(ROUGE.name, "careqa_open", "Llama-3.1-8B-Instruct", [None, None])
    sheet = tables.get("table16").build(inputs(scores, "careqa_open"))
    assert sheet.display.loc[0, "ROUGE-1"] == "–"
    assert any("– marks ROUGE-1 of Llama-3.1-8B: no item has a defined value" in note for note in sheet.notes)


def test_no_score_at_all_says_so(tmp_path, inputs):
    sheet = tables.get("table16").build(inputs([], "careqa_open"))
    assert sheet.notes[0] == "No score for this table is in the study."
    write(tables.get("table16"), sheet, tmp_path / "t")
    assert "No score for this table" in (tmp_path / "t.md").read_text()
    assert json.loads((tmp_path / "t.json").read_text())["display"]["rows"] == []


def test_no_benchmark_says_so():
    sheet = tables.get("table16").build(Inputs({}, MODELS, {}))
    assert sheet.notes == ("No benchmark of this table is in the study.",)


def test_files_are_the_same_twice(inputs, tmp_path):
    scores = rows(ROUGE.name, "careqa_open", "Llama-3.1-8B-Instruct", [0.2, 0.4, 0.6])
    for name in ("a", "b"):
        write(tables.get("table16"), tables.get("table16").build(inputs(scores, "careqa_open")), tmp_path / name)
    for suffix in ("csv", "md", "tex", "json"):
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()


def test_names_that_mean_something_to_markdown_and_latex_stay_text(inputs):
    models = {"a|b_c%": {"label": "a|b_c%", "derived_from": "", "noise": None}}
    scores = rows(ROUGE.name, "careqa_open", "a|b_c%", [0.2, 0.4])
    table = tables.get("table16")
    sheet = table.build(inputs(scores, "careqa_open", models=models))
    assert r"a\|b_c%" in markdown(table, sheet)
    assert r"a|b\_c\%" in latex(table, sheet)
    assert r"\toprule" in latex(table, sheet)


def test_every_numbered_table_of_the_first_paper_is_there():
    names = [table.name for table in tables.collection()]
    assert len(set(names)) == len(names)
    assert {f"table{n:02}" for n in range(7, 21)} <= set(names)


def test_every_table_of_scores_is_about_a_task_of_the_paper():
    from beyondqa import benchmarks

    known = [benchmarks.get(name) for name in benchmarks.names()]
    for table in tables.collection():
        if table.needs == ("means",):
            assert any(table.covers(b) for b in known if b.task in TASKS), table.name


def test_the_last_digits_of_a_sum_are_not_written(tmp_path):
    from beyondqa.statistics.digits import steady

    frame = steady(
        pd.DataFrame({"x": [0.1 + 0.2, 1 / 3, float("nan")], "n": [1, 2, 3], "s": ["0.30000000000000004", "", ""]})
    )
    write_csv(tmp_path / "t.csv", frame)
    assert (tmp_path / "t.csv").read_text() == "x,n,s\n0.3,1,0.30000000000000004\n0.333333333333,2,\n,3,\n"


def test_text_that_looks_missing_is_no_gap(inputs, tmp_path):
    models = {"NA": {"label": "NA", "derived_from": "", "noise": None}}
    scores = rows(ROUGE.name, "careqa_open", "NA", [0.2, 0.4])
    sheet = tables.get("table16").build(inputs(scores, "careqa_open", models=models))
    assert isinstance(sheet.data, pd.DataFrame)
    assert sheet.display.loc[0, "Model"] == "NA"


def test_table_6_takes_one_item_a_benchmark_and_the_spread_over_seeds(tmp_path):
    """Two seeds of 1.0 and 3.0: mean 2, population standard deviation 1."""
    items = [
        OpenItem(f"olaph:{n}", "olaph", "Q?", "R.", "Q?", must_have=("first", "second"), nice_to_have=("third",))
        for n in (1, 2)
    ]
    write_records(tmp_path / "olaph.jsonl", items)
    names = [f"{v}[{t},n2]" for v in table06.VALUES for t in ("must_have", "nice_to_have")]
    metrics = {name: Metric(name, name, False, None, None) for name in names}
    values = {"olaph:1": (1.0, 3.0), "olaph:2": (7.0, 7.0)}
    scores = [
        Score(item, "olaph", "silent", "relaxed", seed, name, value)
        for item, seeds in values.items()
        for seed, value in enumerate(seeds)
        for name in names
    ]
    write_parquet(tmp_path / "s.parquet", scores_frame(scores), metrics_metadata(metrics))
    files = {"relaxed_scores": [tmp_path / "s.parquet"], "datasets": [tmp_path / "olaph.jsonl"]}
    benchmarks = {"olaph": {"title": "OLAPH", "task": "factuality", "kind": "open"}}
    sheet = table06.TABLE.build(Inputs(files=files, models=MODELS, benchmarks=benchmarks))
    assert sheet.display["Relaxed Perplexity"].tolist() == ["2.000 ± 1.000"] * 2
    assert sheet.display["Statements"].tolist() == ["first | second", "third"]
    assert set(sheet.data["item_id"]) == {"olaph:1"}


@pytest.mark.parametrize(("name", "need"), [("table06", "relaxed_scores"), ("table10", "means")])
@pytest.mark.parametrize("other", ["n128,stride16,l5,s10,main,p0.9,T1", "n128,stride8,l5,s10,main,p0.9,T1"])
def test_relaxed_perplexities_of_several_settings_share_no_table(tmp_path, name, need, other):
    """Scores of one model made anew and of another from before the setting was changed."""
    settings = {"silent": "n128,stride16,l5,s10,main,p0.9,T1", "noisy": other}
    aside = "relaxed_perplexity[must_have,n128,stride16,l5,s10,eos,p0.9,T1]"
    for model, signature in settings.items():
        name_of = f"relaxed_perplexity[must_have,{signature}]"
        metrics = {
            name_of: Metric(name_of, "RPPL", False, None, None),
            aside: Metric(aside, "x", False, None, None, headline=False),
        }
        scores = [Score("olaph:1", "olaph", model, "relaxed", 0, metric, 1.0) for metric in metrics]
        write_parquet(tmp_path / f"{model}.parquet", scores_frame(scores), metrics_metadata(metrics))
    write_records(tmp_path / "olaph.jsonl", [OpenItem("olaph:1", "olaph", "Q?", "R.", "Q?", must_have=("first",))])
    scores = [tmp_path / f"{model}.parquet" for model in settings]
    write_csv(tmp_path / "means.csv", means(*read_with_metrics(scores), {}, seed=1))
    (tmp_path / "published.csv").write_text("model,benchmark,metric,published,source\n")
    files = {
        "relaxed_scores": scores,
        "means": [tmp_path / "means.csv"],
        "datasets": [tmp_path / "olaph.jsonl"],
        "resources": [tmp_path / "published.csv"],
    }
    benchmarks = {"olaph": {"title": "OLAPH", "task": "factuality", "kind": "open"}}
    inputs = Inputs(
        {need: files[need], "datasets": files["datasets"], "resources": files["resources"]},
        MODELS,
        benchmarks,
        ["relaxed"],
    )
    if other == settings["silent"]:
        display = tables.get(name).build(inputs).display
        assert len(display) == 2
        assert "eos" not in display.to_string()
    else:
        with pytest.raises(StudyError, match=r"different settings would share a table: n128,stride16.*; n128,stride8"):
            tables.get(name).build(inputs)


def test_models_that_no_metric_tells_apart_are_named(inputs):
    """Two published systems of ACI-Bench are one file under two names; they must not pass for two."""
    scores = [
        row
        for metric, values in ((ROUGE, (0.1, 0.3)), (STAND_IN, (0.5, 0.7)))
        for model, shift in (("Llama-3.1-8B-Instruct", 0), ("noisy", 0.05), ("silent", 0))
        for row in rows(metric.name, "careqa_open", model, [v + shift for v in values])
    ]
    named = [note for note in inputs(scores, "careqa_open").twin_notes(["careqa_open"])]
    assert len(named) == 1
    assert "Llama-3.1-8B, silent" in named[0]
    apart = [s for s in scores if s.model != "silent"]
    assert inputs(apart, "careqa_open").twin_notes(["careqa_open"]) == []
