"""The recorded engine: real recordings in two layouts, and every fault of a file."""

import csv
import gzip
import json
from collections import Counter

import pytest

from beyondqa.engines import recorded
from beyondqa.errors import StudyError
from beyondqa.items import OpenItem
from beyondqa.loading import load
from beyondqa.metrics import generated_accuracy


def item(identifier, **metadata):
    return OpenItem(identifier, "aci_bench", "what?", "that.", "what? ", metadata=metadata)


ITEMS = [item("a", code="07"), item("b", code="8"), item("c", code="9")]


def entry(path, **settings):
    return {
        "name": "other",
        "predictions": {"aci_bench": {"path": str(path), "id": "key", "text": "answer", **settings}},
    }


def write_csv(path, rows):
    with gzip.open(path, "wt", newline="") if path.suffix == ".gz" else open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([("key", "answer"), *rows])
    return path


def texts(generations):
    return {g.item_id: g.text for g in generations}


@pytest.mark.parametrize("name", ["p.csv", "p.csv.gz", "p.jsonl", "p.jsonl.gz", "p.json", "p.json.gz"])
def test_every_kind_of_file_gives_the_texts_as_they_are(tmp_path, name):
    wanted = {"a": "NA", "b": 'null\u2028None\r\nline 2, "quoted"', "c": ""}
    path = tmp_path / name
    if "csv" in name:
        write_csv(path, wanted.items())
    else:
        rows = [{"key": k, "answer": v} for k, v in wanted.items()]
        dump = (
            json.dumps(rows) if ".json." in name + "." else "\n".join(json.dumps(r, ensure_ascii=False) for r in rows)
        )
        data = dump.encode()
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    got = recorded.answers(entry(path), ITEMS, "aci_bench")
    assert texts(got) == wanted
    assert {(g.model, g.variant, g.index, g.finish_reason) for g in got} == {("other", "greedy", 0, "recorded")}


def test_a_metadata_field_joins_and_keeps_its_zeros(tmp_path):
    path = write_csv(tmp_path / "p.csv", [("9", "nine"), ("07", "seven"), ("8", "eight")])
    got = recorded.answers(entry(path, join="code"), ITEMS, "aci_bench")
    assert [(g.item_id, g.text) for g in got] == [("a", "seven"), ("b", "eight"), ("c", "nine")]


def test_predictions_of_other_items_are_counted_in_the_log(tmp_path, caplog):
    path = write_csv(tmp_path / "p.csv", [("a", "1"), ("b", "2"), ("c", "3"), ("z9", "4")])
    with caplog.at_level("INFO"):
        assert len(recorded.answers(entry(path), ITEMS, "aci_bench")) == 3
    assert "4 predictions, 3 of 3 items of aci_bench joined by id" in caplog.text
    assert "1 of 4 predictions match no item's id: z9" in caplog.text


def test_several_answers_to_an_item_are_ordered_by_their_index(tmp_path):
    path = tmp_path / "p.jsonl"
    rows = [("a", 10, "tenth"), ("a", 2, "second"), ("b", 1, "only"), ("c", 1, "c1"), ("c", 3, None)]
    path.write_text("".join(json.dumps({"key": k, "n": n, "answer": t}) + "\n" for k, n, t in rows))
    samples = recorded.answers(entry(path, index="n"), ITEMS, "aci_bench", variant="sample")
    assert [(g.item_id, g.index, g.text, g.variant) for g in samples] == [
        ("a", 0, "second", "sample"),
        ("a", 1, "tenth", "sample"),
        ("b", 0, "only", "sample"),
        ("c", 0, "c1", "sample"),
    ]
    assert texts(recorded.answers(entry(path, index="n"), ITEMS, "aci_bench")) == {
        "a": "second",
        "b": "only",
        "c": "c1",
    }


def test_a_missing_answer_names_the_item_unless_it_is_allowed(tmp_path):
    path = write_csv(tmp_path / "p.csv", [("a", "1"), ("c", "3")])
    with pytest.raises(StudyError, match=r"p\.csv, record b: 1 of 3 items have no prediction.*allow_missing"):
        recorded.answers(entry(path), ITEMS, "aci_bench")
    assert texts(recorded.answers(entry(path, allow_missing=True), ITEMS, "aci_bench")) == {"a": "1", "c": "3"}


@pytest.mark.parametrize(
    ("rows", "settings", "message"),
    [
        ([("a", "1"), ("a", "2")], {}, r"record a: 1 predictions differ from another for the same item \(a\)"),
        (
            [("y", "1"), ("z", "2")],
            {},
            r"is for one of the items\. 2 of 2 predictions match no item's id: y, z",
        ),
        ([], {}, r"no prediction is for one of the items\. 3 of 3 items have no.*have as id: a, b, c"),
        ([("a", "1")], {"text": "note"}, r"row 1: there is no column 'note'.*key, answer"),
        ([("a", "one")], {"index": "answer"}, r"record row 1: the index 'one' is no whole number"),
        ([("a", "1")], {"join": "colour"}, r"record a: the item has no 'colour'.*id, question, code"),
    ],
)
def test_faults_of_a_file_name_it_the_record_and_the_remedy(tmp_path, rows, settings, message):
    path = write_csv(tmp_path / "p.csv", rows)
    with pytest.raises(StudyError, match=message) as caught:
        recorded.answers(entry(path, **settings), ITEMS, "aci_bench")
    assert str(path) in str(caught.value)


def test_a_prediction_that_could_be_several_items_is_told_and_given_to_none(tmp_path):
    path = write_csv(tmp_path / "p.csv", [("7", "1"), ("8", "2")])
    items = [item("x", code=7), item("y", code="7"), item("z", code=8)]
    with pytest.raises(StudyError, match="match several items' code: 7; 2 of 3 items have no prediction: x, y"):
        recorded.answers(entry(path, join="code"), items, "aci_bench")
    settings = entry(path, join="code", allow_missing=True)
    assert texts(recorded.answers(settings, items, "aci_bench")) == {"z": "2"}
    assert recorded.summary(settings, items, "aci_bench") == {
        "model": "other",
        "benchmark": "aci_bench",
        "files": str(path),
        "joined by": "code",
        "predictions": 2,
        "items": 3,
        "joined items": 1,
        "faults": ["1 of 2 predictions match several items' code: 7", "2 of 3 items have no prediction: x, y"],
    }


def test_items_that_cannot_be_told_apart_at_all_are_refused(tmp_path):
    path = write_csv(tmp_path / "p.csv", [("7", "1")])
    with pytest.raises(StudyError, match="1 of 1 predictions match several items' code: 7"):
        recorded.answers(entry(path, join="code"), [item("x", code=7), item("y", code="7")], "aci_bench")


def test_the_benchmarks_own_ids_join_without_its_name(tmp_path):
    path = write_csv(tmp_path / "p.csv", [("aci_bench:1", "one"), ("2", "two")])
    items = [item("aci_bench:1"), item("aci_bench:2")]
    assert texts(recorded.answers(entry(path), items, "aci_bench")) == {"aci_bench:1": "one", "aci_bench:2": "two"}
    write_csv(path, [("aci_bench:1", "one"), ("2", "two"), ("1", "uno")])
    with pytest.raises(StudyError, match=r"1 predictions differ from another for the same item \(1\)"):
        recorded.answers(entry(path), items, "aci_bench")


def test_the_same_words_twice_count_once_and_are_told(tmp_path, caplog):
    path = write_csv(tmp_path / "p.csv", [("a", "1"), ("b", "2"), ("a", "1"), ("c", "3")])
    assert [g.text for g in recorded.answers(entry(path), ITEMS, "aci_bench", variant="sample")] == ["1", "2", "3"]
    assert "1 of 4 predictions repeat another word by word, one counts: a" in caplog.text


def test_examples_are_few_and_short():
    assert recorded.first(["a", "b", "c", "d", "e"]) == "a, b, c, 2 more"
    assert recorded.first(["x" * 99, "two\nlines"]) == "x" * 59 + "…, two lines"


def test_one_file_of_several_models(tmp_path):
    path = tmp_path / "p.csv"
    rows = [("key", "who", "answer"), ("a", "lab/one", "1a"), ("a", "other", "2a"), ("b", "lab/one", "1b")]
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows(rows)
    first = entry(path, model="who", model_value="lab/one", allow_missing=True)
    assert texts(recorded.answers(first, ITEMS, "aci_bench")) == {"a": "1a", "b": "1b"}
    own_name = entry(path, model="who", allow_missing=True)
    assert texts(recorded.answers(own_name, ITEMS, "aci_bench")) == {"a": "2a"}
    with pytest.raises(StudyError, match=r"no row is of the model 'three'.*lab/one, other"):
        recorded.answers(entry(path, model="who", model_value="three"), ITEMS, "aci_bench")


def test_several_files_are_read_as_one(tmp_path):
    paths = [write_csv(tmp_path / f"{k}.csv", [(k, k.upper())]) for k in "abc"]
    settings = entry("")
    settings["predictions"]["aci_bench"]["path"] = [str(path) for path in paths]
    assert texts(recorded.answers(settings, ITEMS, "aci_bench")) == {"a": "A", "b": "B", "c": "C"}


def test_a_list_of_texts_is_several_answers(tmp_path):
    path = tmp_path / "p.jsonl"
    rows = [{"key": "a", "answer": ["x", None, "z"]}, {"key": "b", "answer": "y"}, {"key": "c", "answer": []}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = entry(path, allow_missing=True)
    got = recorded.answers(settings, ITEMS, "aci_bench", variant="sample")
    assert [(g.item_id, g.index, g.text) for g in got] == [("a", 0, "x"), ("a", 1, "z"), ("b", 0, "y")]
    assert recorded.summary(settings, ITEMS, "aci_bench")["faults"] == ["1 of 3 items have no prediction: c"]


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("gone.csv", None),
        ("torn.csv.gz", gzip.compress(b"key,answer\na,1\n")[:-9]),
        ("latin.csv", "key,answer\na,caf\xe9\n".encode("latin-1")),
        ("broken.jsonl", b'{"key": "a", "answer": "1"}\n{"key": '),
        ("object.json", b'{"a": "1"}'),
        ("number.jsonl", b'{"key": "a", "answer": 5}'),
        ("table.xlsx", b"x"),
    ],
)
def test_unreadable_files_are_named(tmp_path, name, data):
    path = tmp_path / name
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(StudyError, match=name):
        recorded.answers(entry(path), ITEMS, "aci_bench")


def test_no_predictions_for_the_benchmark(tmp_path):
    with pytest.raises(StudyError, match="record other: has no predictions for olaph"):
        recorded.answers(entry(tmp_path / "p.csv"), ITEMS, "olaph")


def test_real_recordings_in_both_layouts(shared):
    """Against the csv module on the same files: 21 systems, 40 notes each."""
    folder = shared / "recorded" / "aci_bench_baselines" / "predictions"
    encounters = shared / "data" / "aci_bench" / "clinicalnlp_taskC_test2_metadata.csv"
    with open(encounters, newline="") as file:
        items = [item(f"aci-{i}", encounter_id=row["encounter_id"]) for i, row in enumerate(csv.DictReader(file))]
    paths = sorted(folder.glob("*test2*.csv.gz"))
    assert (len(paths), len(items)) == (21, 40)
    csv.field_size_limit(10**7)
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as file:
            wanted = {row["encounter_id"]: row["note"] for row in csv.DictReader(file)}
        got = recorded.answers(entry(path, id="encounter_id", text="note", join="encounter_id"), items, "aci_bench")
        assert [g.text for g in got] == [wanted[i.metadata["encounter_id"]] for i in items]


def test_real_samples_join_by_the_question(shared):
    """OLAPH's published answers, six a question in a list, joined by the question; against json on the same file."""
    path = shared / "recorded/olaph_sampled_predictions/pdata_gemma-7b_kqa_golden_sampling.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    items = [OpenItem(f"olaph:{n}", "aci_bench", row["Question"], "that.", "?") for n, row in enumerate(rows)]
    wanted = [(f"olaph:{n}", i, text) for n, row in enumerate(rows) for i, text in enumerate(row["sample_predictions"])]
    settings = entry(path, id="Question", text="sample_predictions", join="question")
    got = recorded.answers(settings, items, "aci_bench", variant="sample")
    assert [(g.item_id, g.index, g.text) for g in got] == wanted
    assert len(wanted) == 6 * 201


ZERO_SHOT = "recorded/medagents_benchmark_zero_shot"


def real_choices(root, shared, name):
    folders = {"hub_mirror": shared / "hub", "originals": shared / "data"}
    return load(name, **folders, seed=0, prompt=root / f"resources/prompts/{name}.txt").items


@pytest.mark.parametrize(
    ("benchmark", "columns", "fields", "joined"),
    [
        ("medmcqa", "question", "question", 2815),
        ("pubmedqa", "realidx", "id", 500),
        ("mmlu", "question", "question", 933),
        ("mmlu", ["question", "subject"], ["question", "subject"], 1085),
    ],
)
def test_letters_of_a_real_run_give_its_accuracy(root, shared, benchmark, columns, fields, joined):
    """gpt-4o's letters, joined to the benchmark's own rows; against the file's own gold letters.

    One question of MedMCQA's is not in the benchmark letter by letter. MMLU asks 76 questions in two subjects, and
    one twice in each of two.
    """
    path = shared / ZERO_SHOT / benchmark / f"gpt-4o-{benchmark}-test-zero_shot.json.gz"
    items = real_choices(root, shared, benchmark)
    settings = {"path": str(path), "id": columns, "join": fields, "text": "predicted_answer", "allow_missing": True}
    model = {"name": "gpt-4o", "predictions": {benchmark: settings}}
    answers = recorded.answers(model, items, benchmark)
    assert len(answers) == joined
    scores = generated_accuracy.scores({item.id: item for item in items}, answers, {})
    right = sum(score.value for score in scores)

    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = json.load(file)
    known = {item.question.strip() for item in items}
    named = [columns] if isinstance(columns, str) else columns
    keys = Counter(tuple(row[name].strip() for name in named) for row in rows)
    usable = [
        row
        for row in rows
        if keys[tuple(row[name].strip() for name in named)] == 1
        and (fields == "id" or row["question"].strip() in known)
    ]
    assert len(usable) == joined
    assert right == sum(row["predicted_answer"] == row["answer_idx"] for row in usable)
