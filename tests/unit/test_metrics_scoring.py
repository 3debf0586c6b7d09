"""Joining answers to items, the policy for empties, flags, and the script that writes the scores."""

import json
import runpy
from types import SimpleNamespace

import pandas as pd
import pyarrow.parquet as pq
import pytest

from beyondqa import records
from beyondqa.errors import StudyError
from beyondqa.items import Generation, LogLikelihood, MultipleChoiceItem, OpenItem
from beyondqa.metrics import rouge
from beyondqa.scoring import is_blank, score_answers, score_pairs, score_records, well_formed

ITEMS = {
    "b:1": OpenItem("b:1", "b", "why?", "fever and cough", "why?"),
    "b:2": OpenItem("b:2", "b", "how?", "rest", "how?"),
    "c:1": MultipleChoiceItem("c:1", "c", "which?", ("x", "y"), (" A", " B"), 0, "which?"),
}


def answer(item_id, text, variant="greedy", index=0, finish="stop", **more):
    return Generation(item_id, item_id[0], "m", variant, index, text, finish, **more)


def by_row(frame, metric):
    rows = frame[frame.metric == metric]
    return {(r.item_id, r.variant, r["index"]): r for _, r in rows.iterrows()}


def test_one_pass_over_all_variants():
    answers = [
        answer("b:1", "fever and cough"),
        answer("b:1", "fever", "sample", 0),
        answer("b:1", "", "sample", 1, finish="length"),
        answer("b:2", "fever and cough", "rephrasing", 3, prompt_tokens_cut=7),
        answer("c:1", "A"),
        answer("b:2", "5", "judgement", 0),
    ]
    frame, signatures = score_answers(ITEMS, answers, {"rouge": {}, "length": {}})
    assert list(frame.columns) == list(records.SCORE_COLUMNS)
    found = by_row(frame, "rouge1[nostem]")
    assert {key: row.value for key, row in found.items()} == {
        ("b:1", "greedy", 0): 1.0,
        ("b:1", "sample", 0): 0.5,  # one of one word against one of three: 2 * 1 / (1 + 3)
        ("b:1", "sample", 1): 0.0,
        ("b:2", "rephrasing", 3): 0.0,
    }
    assert found["b:1", "sample", 1]["flags"] == "empty,cut"
    assert found["b:2", "rephrasing", 3]["flags"] == "prompt_cut"
    assert by_row(frame, "length[words]")["b:1", "greedy", 0].value == 3.0
    assert signatures["rouge"]["rouge-score"]


def test_equal_pairs_are_scored_once(monkeypatch):
    seen = []
    original = rouge.values
    monkeypatch.setattr(rouge, "values", lambda pairs, *a, **k: seen.extend(pairs) or original(pairs, *a, **k))
    answers = [answer("b:1", "fever", "sample", n) for n in range(11)] + [answer("b:2", "fever")]
    frame, _ = score_answers(ITEMS, answers, {"rouge": {}})
    assert sorted(seen) == [("fever", "fever and cough"), ("fever", "rest")]
    assert len(by_row(frame, "rouge1[nostem]")) == 12


def test_a_module_may_score_some_benchmarks_alone():
    items = {**ITEMS, "d:1": OpenItem("d:1", "d", "why?", "cough", "why?")}
    answers = [answer("b:1", "fever"), answer("d:1", "cough")]
    frame, _ = score_answers(items, answers, {"rouge": {"benchmarks": ["d"]}, "length": {}})
    assert set(by_row(frame, "rouge1[nostem]")) == {("d:1", "greedy", 0)}
    assert len(by_row(frame, "length[words]")) == 2


def test_no_open_answer_gives_an_empty_frame():
    frame, _ = score_answers(ITEMS, [answer("c:1", "A")], {"rouge": {}})
    assert list(frame.columns) == list(records.SCORE_COLUMNS)
    assert frame.empty


def test_an_answer_to_no_item_is_refused():
    with pytest.raises(StudyError, match="z:9"):
        score_answers(ITEMS, [answer("z:9", "text")], {"rouge": {}})


def test_two_answers_of_one_identity_are_refused():
    with pytest.raises(StudyError, match=r"b:1.*two answers of m \(sample 1\)"):
        score_answers(ITEMS, [answer("b:1", "x", "sample", 1), answer("b:1", "y", "sample", 1)], {"rouge": {}})


def test_blank_references_are_null_with_a_reason():
    columns, _ = score_pairs([("text", " "), ("", ""), ("text", "text")], {"rouge": {}})
    column = columns["rouge1[nostem]"]
    assert list(column.values) == [None, None, 1.0]
    assert column.reasons[0] == column.reasons[1] == "the reference is empty"


@pytest.mark.parametrize(
    ("text", "blank"),
    [("", True), (" \n\t\u00a0", True), ("\u200b\ufeff\0", True), ("\ud800", True), (".", False), ("حمى", False)],
)
def test_blank_means_without_a_visible_character(text, blank):
    assert is_blank(text) is blank


def test_surrogates_become_characters_that_tokenizers_take():
    assert well_formed("a\ud800b") == "a\ufffdb"
    assert well_formed("\ud83e\ude7a") == "🩺"
    assert well_formed("naïve 🩺") == "naïve 🩺"


def test_a_value_that_is_no_number_stops_the_job(monkeypatch):
    monkeypatch.setattr(rouge, "_f1", lambda *_: float("nan"))
    with pytest.raises(StudyError, match=r"rouge1\[nostem\] is nan"):
        score_pairs([("a", "a")], {"rouge": {}})


def test_likelihoods_of_one_family_in_one_frame():
    likelihoods = [
        LogLikelihood("c:1", "c", "m", "option", 0, (-1.0,), True),
        LogLikelihood("c:1", "c", "m", "option", 1, (-2.0,), False),
        LogLikelihood("b:2", "b", "m", "reference", 0, (-3.0,), False),
    ]
    frame, _ = score_records(ITEMS, likelihoods, {"accuracy": {}, "perplexity": {}})
    assert by_row(frame, "accuracy")["c:1", "option", 0].value == 1.0
    assert by_row(frame, "word_perplexity")["b:2", "reference", 0].value == 3.0
    with pytest.raises(StudyError, match="z:9"):
        score_records(ITEMS, [LogLikelihood("z:9", "b", "m", "reference", 0, (-3.0,), False)], {"accuracy": {}})


def run_script(root, tmp_path, model="m", stage="greedy"):
    job = SimpleNamespace(
        input=SimpleNamespace(datasets=[str(tmp_path / "items.jsonl")], answers=[str(tmp_path / "answers.jsonl")]),
        output=[str(tmp_path / "out" / "scores.parquet")],
        log=[str(tmp_path / "score.log")],
        params=SimpleNamespace(modules={"rouge": {}, "length": {}}, benchmarks=["b"]),
        wildcards=SimpleNamespace(family="lexical", model=model, stage=stage),
        threads=1,
    )
    runpy.run_path(str(root / "workflow/scripts/score.py"), init_globals={"snakemake": job})
    return job.output[0]


@pytest.fixture
def files(tmp_path):
    records.write_records(tmp_path / "items.jsonl", ITEMS.values())
    answers = [
        answer("b:1", "NA"),
        answer("b:2", "lone \ud800 \u2028 text", "sample", 0),
        Generation("b:1", "b", "other", "greedy", 0, "fever", "stop"),
        Generation("d:1", "d", "m", "greedy", 0, "of a benchmark that is not scored here", "stop"),
    ]
    records.write_records(tmp_path / "answers.jsonl", answers)
    return tmp_path


def test_the_script_writes_scores_with_metrics_and_signatures(root, files):
    path = run_script(root, files)
    frame = pd.read_parquet(path)
    assert set(frame.model) == {"m"}
    assert set(frame.benchmark) == {"b"}
    assert by_row(frame, "length[words]")["b:1", "greedy", 0].value == 1.0
    assert by_row(frame, "length[words]")["b:2", "sample", 0].value == 3.0
    metadata = pq.read_schema(path).metadata
    assert json.loads(metadata[b"metrics"])["rougeL[nostem]"]["higher_is_better"] is True
    assert json.loads(metadata[b"signatures"])["rouge"]["measure"] == "F1"


def test_the_script_stops_without_answers_of_the_model_and_leaves_nothing(root, files):
    with pytest.raises(SystemExit, match="no answer of absent"):
        run_script(root, files, model="absent")
    assert not (files / "out").exists()
    assert "no answer of absent" in (files / "score.log").read_text()


def test_a_model_without_rephrasings_has_an_empty_file(root, files):
    assert pd.read_parquet(run_script(root, files, model="absent", stage="rephrased")).empty
