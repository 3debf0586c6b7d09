"""Records survive what texts hold, outputs appear whole, journals lose at most a batch."""

import errno
import fcntl
import json
import os
import signal
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beyondqa import records
from beyondqa.errors import StudyError
from beyondqa.items import Generation, LogLikelihood, MultipleChoiceItem, OpenItem, Score, from_json, to_json
from beyondqa.records import (
    Journal,
    atomic,
    read_csv,
    read_items,
    read_jsonl,
    read_records,
    write_csv,
    write_jsonl,
    write_records,
)


def choice(**changes):
    fields = {
        "id": "careqa:1",
        "benchmark": "careqa",
        "question": "Which vitamin prevents scurvy?",
        "options": ("A", "C"),
        "candidates": (" A", " B"),
        "gold": 1,
        "prompt": "Question: Which vitamin prevents scurvy?\nAnswer:",
    }
    return MultipleChoiceItem(**{**fields, **changes})


@given(st.text(min_size=1).filter(str.strip), st.text())
def test_any_text_survives_json(question, text):
    item = OpenItem(id="x:1", benchmark="x", question=question, reference=question, prompt=question)
    generation = Generation("x:1", "x", "m", "greedy", 0, text, "stop")
    for record in (item, generation):
        assert from_json(json.loads(json.dumps(to_json(record)))) == record


@pytest.mark.parametrize(
    "text", ["a\u2028b", "a\x85b", "lone \ud800 surrogate", "NA", "null", "nul \x00 byte", "line\r\nend"]
)
def test_texts_that_cut_or_vanish_elsewhere_survive_a_file(tmp_path, text):
    records = [
        Generation("x:1", "x", "m", "greedy", 0, text, "stop"),
        Generation("x:2", "x", "m", "greedy", 0, "b", "stop"),
    ]
    write_records(tmp_path / "r.jsonl", records)
    assert list(read_records(tmp_path / "r.jsonl")) == records


def test_na_strings_survive_a_csv(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"model": ["NA", "None", "null", "nan"], "value": [1.0, 2.0, None, 4.0]})
    write_csv(tmp_path / "f.csv", frame)
    back = read_csv(tmp_path / "f.csv")
    assert back["model"].tolist() == ["NA", "None", "null", "nan"]
    assert back["value"].isna().tolist() == [False, False, True, False]


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"gold": 2}, "gold index 2 is out of range for 2 options"),
        ({"gold": -1}, "out of range"),
        ({"question": " "}, "question is empty"),
        ({"question": None}, "question is empty"),
        ({"options": ("A",), "candidates": (" A",)}, "two options"),
        ({"candidates": (" A",)}, "2 options but 1 candidates"),
        ({"candidates": (" A", " ")}, "empty candidate"),
    ],
)
def test_a_broken_item_is_refused(changes, complaint):
    with pytest.raises(ValueError, match=complaint):
        choice(**changes)


def test_a_broken_record_names_file_and_record(tmp_path):
    path = tmp_path / "items.jsonl"
    write_jsonl(path, [{**to_json(choice()), "gold": 7}])
    with pytest.raises(StudyError, match=r"items\.jsonl, record careqa:1: gold index 7"):
        list(read_records(path))


def test_two_items_with_one_id_are_refused(tmp_path):
    write_records(tmp_path / "a.jsonl", [choice()])
    write_records(tmp_path / "b.jsonl", [choice()])
    with pytest.raises(StudyError, match=r"b\.jsonl, record careqa:1: two items have this id"):
        read_items([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])


def test_not_json_names_the_line(tmp_path):
    path = tmp_path / "broken.jsonl"
    path.write_bytes(b'{"a": 1}\n{"a": \n')
    with pytest.raises(StudyError, match="line 2"):
        list(read_jsonl(path))


def test_a_byte_order_mark_is_no_part_of_the_first_record(tmp_path):
    path = tmp_path / "bom.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + b'{"a": 1}\r\n{"a": 2}\r\n')
    assert list(read_jsonl(path)) == [{"a": 1}, {"a": 2}]


def test_nan_is_no_json_and_leaves_no_file(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write_jsonl(tmp_path / "nan.jsonl", [{"a": 1.0}, {"a": float("nan")}])
    assert list(tmp_path.iterdir()) == []


def test_a_score_is_finite_or_none_with_a_reason():
    with pytest.raises(ValueError, match="undefined values are None"):
        Score("i", "b", "m", "greedy", 0, "rouge", float("nan"))
    with pytest.raises(ValueError, match="without a reason"):
        Score("i", "b", "m", "greedy", 0, "rouge", None)


def test_an_interrupted_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")

    def interrupted():
        with atomic(path) as file:
            file.write("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        interrupted()
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.txt"]


def test_log_likelihood_total_is_the_sum():
    assert LogLikelihood("i", "b", "m", "option", 0, (-1.0, -2.5), False).total == -3.5


def test_a_torn_journal_tail_costs_that_batch_alone(tmp_path):
    journal = Journal(tmp_path, "a.jsonl")
    with journal.open() as writer:
        writer.commit([{"key": "k1", "text": "one"}, {"key": "k2", "text": "two"}])
        writer.commit([{"key": "k3", "text": "three"}])
    whole = journal.path.read_bytes()
    for cut in range(1, len(whole)):
        journal.path.write_bytes(whole[:cut])
        expected = {"k1", "k2"} if cut > whole.index(b"\n") else set()
        assert set(journal.read()) == expected
        with journal.open() as writer:
            writer.commit([{"key": "k4", "text": "four"}])
        assert set(journal.read()) == expected | {"k4"}


def test_a_journal_reads_its_neighbours(tmp_path):
    with Journal(tmp_path, "pack_a.jsonl").open() as writer:
        writer.commit([{"key": "k1", "text": "one"}])
    assert Journal(tmp_path, "pack_b.jsonl").read() == {"k1": {"key": "k1", "text": "one"}}


# Writes a batch, tells so, and goes on when it is told to: with a worker beside it, as engines have.
HOLDER = """
import os, sys, time
from beyondqa.records import Journal
with Journal(sys.argv[1], "own.jsonl").open() as writer:
    writer.commit([{"key": "first"}])
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)
    print("open", flush=True)
    sys.stdin.readline()
    writer.commit([{"key": "last"}])
"""


@pytest.fixture
def holder(root, tmp_path):
    """A process that holds the journal of tmp_path, in a session of its own so that its worker dies with the test."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, tmp_path],
        cwd=root / "workflow" / "scripts",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline() == "open\n"
    yield process
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_a_second_writer_is_refused_and_told_who_is_first(tmp_path, holder, monkeypatch):
    monkeypatch.setattr(records, "LOCK_PATIENCE_SECONDS", 0.5)
    journal = Journal(tmp_path, "own.jsonl")
    before = journal.path.read_bytes()
    with pytest.raises(StudyError, match=rf"own\.lock: is held by process {holder.pid} on .*resume\.py"):
        journal.open().__enter__()
    assert journal.path.read_bytes() == before == b'[{"key": "first"}]\n'
    with Journal(tmp_path, "neighbour.jsonl").open() as writer:
        writer.commit([{"key": "beside"}])


def test_a_second_writer_waits_and_then_reads_what_the_first_left(tmp_path, holder):
    holder.stdin.write("go on\n")
    holder.stdin.flush()
    journal = Journal(tmp_path, "own.jsonl")
    with journal.open() as writer:
        assert set(journal.read()) == {"first", "last"}
        writer.commit([{"key": "second"}])
    assert journal.path.read_bytes() == b'[{"key": "first"}]\n[{"key": "last"}]\n[{"key": "second"}]\n'


def test_a_lock_ends_with_its_process_even_where_a_worker_lives_on(tmp_path, holder, monkeypatch):
    holder.send_signal(signal.SIGKILL)
    assert holder.wait() == -signal.SIGKILL
    monkeypatch.setattr(records, "LOCK_PATIENCE_SECONDS", 0)
    with Journal(tmp_path, "own.jsonl").open() as writer:
        writer.commit([{"key": "second"}])
    assert set(Journal(tmp_path, "own.jsonl").read()) == {"first", "second"}


def test_a_file_system_without_locks_is_refused(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(fcntl, "lockf", unsupported)
    with pytest.raises(StudyError, match=r"cannot be locked .*`flock`"):
        Journal(tmp_path, "own.jsonl").open().__enter__()
    assert not (tmp_path / "own.jsonl").exists()
