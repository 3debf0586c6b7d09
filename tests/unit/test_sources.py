"""Sources that are broken, partial or not there: one clear error each, or survival, as is right for it."""

import codecs
import dataclasses
import json
import shutil
import socket

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beyondqa import benchmarks, sources
from beyondqa.benchmarks._read import csv_rows, json_value, xml_root
from beyondqa.benchmarks.base import FileSource, HubSource, OriginalFile
from beyondqa.errors import StudyError
from beyondqa.identity import file_sha256
from beyondqa.loading import load
from beyondqa.sources import RECEIPT, existing_files, open_source

CARD = (
    "---\nconfigs:\n- config_name: CareQA_en\n  data_files:\n  - {split: test, path: CareQA_en/test-*.parquet}\n---\n"
)


def demo_rows(root, name):
    return [json.loads(line) for line in open(root / f"resources/demo/{name}.jsonl", encoding="utf-8")]


@pytest.fixture
def mirror(root, tmp_path):
    """A mirror that holds four CareQA items of ours, laid out as the Hub lays them out."""
    folder = tmp_path / "hub/HPAI-BSC/CareQA"
    (folder / "CareQA_en").mkdir(parents=True)
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    pq.write_table(pa.Table.from_pylist(demo_rows(root, "careqa")), folder / "CareQA_en/test-00000-of-00001.parquet")
    return folder


@pytest.fixture
def load_careqa(root, tmp_path):
    def loader(**settings):
        prompt = root / "resources/prompts/careqa.txt"
        settings = {"hub_mirror": tmp_path / "hub", "originals": tmp_path, "expected_rows": 4, **settings}
        return load("careqa", seed=1, prompt=prompt, **settings)

    return loader


def rewrite(folder, change):
    path = folder / "CareQA_en/test-00000-of-00001.parquet"
    rows = pq.read_table(path).to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows), path)


def test_a_mirror_is_read_and_described(mirror, load_careqa):
    loaded = load_careqa()
    path = mirror / "CareQA_en/test-00000-of-00001.parquet"
    assert [item.id for item in loaded.items] == [f"careqa:demo-{number}" for number in range(1, 5)]
    source = loaded.manifest["source"]
    assert source["repository"] == "HPAI-BSC/CareQA"
    assert source["revision"] is None
    assert source["files"] == [
        {"name": "CareQA_en/test-00000-of-00001.parquet", "bytes": path.stat().st_size, "sha256": file_sha256(path)}
    ]
    assert loaded.manifest["partial_reason"] == "the mirror holds 4 of 5621 rows"


def test_rows_of_the_mirror_and_rows_by_hand_make_the_same_items(mirror, load_careqa, root):
    by_hand = load_careqa(rows=root / "resources/demo", expected_rows=None)
    assert load_careqa().items == by_hand.items


def test_a_missing_mirror_names_folder_and_remedy(load_careqa, tmp_path):
    with pytest.raises(StudyError) as raised:
        load_careqa(hub_mirror=tmp_path / "nowhere")
    assert str(tmp_path / "nowhere/HPAI-BSC/CareQA") in str(raised.value)
    assert "snakemake --cores 1 fetch" in str(raised.value)


def test_a_missing_config_names_those_there_are(mirror, tmp_path, root):
    prompt = root / "resources/prompts/careqa_es.txt"
    with pytest.raises(StudyError, match=r"CareQA_es.*CareQA_en"):
        load("careqa_es", hub_mirror=tmp_path / "hub", originals=tmp_path, seed=1, prompt=prompt)


def test_a_missing_split_is_told(mirror, load_careqa):
    (mirror / "README.md").write_text(CARD.replace("split: test", "split: train"), encoding="utf-8")
    with pytest.raises(StudyError, match="has no split 'test'"):
        load_careqa()


def test_a_partial_mirror_that_does_not_say_so_stops(mirror, load_careqa):
    with pytest.raises(StudyError, match="holds 4 rows, expected are 5621"):
        load_careqa(expected_rows=None)


def test_a_mirror_with_other_rows_than_it_declares_stops(mirror, load_careqa):
    with pytest.raises(StudyError, match="holds 4 rows, expected are 3"):
        load_careqa(expected_rows=3)


def test_expected_rows_belong_to_a_revision(mirror, load_careqa, monkeypatch):
    """A mirror whose receipt tells a known revision is held to that revision's count."""
    module = benchmarks.careqa
    counts = {"*": 5621, "a" * 40: 4, "b" * 40: 9}
    benchmark = dataclasses.replace(module.BENCHMARK, expected_rows=counts, expected_groups={})
    monkeypatch.setattr(module, "BENCHMARK", benchmark)
    (mirror / RECEIPT).write_text(json.dumps({"revision": "a" * 40, "files": {}}), encoding="utf-8")
    assert not load_careqa(expected_rows=None).manifest["partial"]
    (mirror / RECEIPT).write_text(json.dumps({"revision": "b" * 40, "files": {}}), encoding="utf-8")
    with pytest.raises(StudyError, match="holds 4 rows, expected are 9"):
        load_careqa(expected_rows=None)


def test_a_wrong_grid_stops_with_both_numbers(mirror, load_careqa, monkeypatch):
    module = benchmarks.careqa
    grid = {"Medicine / 2023": 2, "Nursing / 2022": 1, "Pharmacology / 2021": 1}
    monkeypatch.setattr(
        module, "BENCHMARK", dataclasses.replace(module.BENCHMARK, expected_rows={"*": 4}, expected_groups=grid)
    )
    with pytest.raises(StudyError, match="holds 1 items of Medicine / 2023, expected are 2"):
        load_careqa(expected_rows=None)
    grid |= {"Medicine / 2023": 1}
    with pytest.raises(StudyError, match="holds 1 items of Psychology / 2024, expected are 0"):
        load_careqa(expected_rows=None)


def test_another_revision_than_the_locked_one_stops(mirror, load_careqa):
    (mirror / RECEIPT).write_text(json.dumps({"revision": "a" * 40, "files": {}}), encoding="utf-8")
    locked = {"hub:HPAI-BSC/CareQA": {"revision": "b" * 40}}
    with pytest.raises(StudyError, match="the study is locked to b"):
        load_careqa(locked=locked)
    loaded = load_careqa(locked={"hub:HPAI-BSC/CareQA": {"revision": "a" * 40}})
    assert (loaded.manifest["source"]["revision"], loaded.manifest["source"]["revision_locked"]) == ("a" * 40, True)


def test_a_file_that_changed_after_it_was_fetched_stops(mirror, load_careqa):
    name = "CareQA_en/test-00000-of-00001.parquet"
    receipt = {"revision": "a" * 40, "files": {name: file_sha256(mirror / name)}}
    (mirror / RECEIPT).write_text(json.dumps(receipt), encoding="utf-8")
    load_careqa()
    rewrite(mirror, lambda rows: rows[0].update(cop=1))
    with pytest.raises(StudyError, match=r"test-00000-of-00001.parquet: has the sha256 \w+, pinned is"):
        load_careqa()


@pytest.mark.parametrize(
    "content", [b"<!DOCTYPE html><html>", b"", b"PAR1 not whole", b"\xef\xbb\xbf<html>", "half"], ids=repr
)
def test_a_damaged_parquet_file_names_the_mirror(mirror, load_careqa, content):
    path = mirror / "CareQA_en/test-00000-of-00001.parquet"
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] if content == "half" else content)
    with pytest.raises(StudyError, match="CareQA"):
        load_careqa()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda rows: [row.update(answer=row.pop("cop")) for row in rows], "lacks the column cop"),
        (lambda rows: rows[2].update(question=None), "careqa:demo-3: question is null"),
        (lambda rows: rows[2].update(cop=7), "careqa:demo-3: gold index 6 is out of range"),
        (lambda rows: rows[2].update(unique_id="demo-1"), "careqa:demo-1: two rows have this id"),
    ],
)
def test_broken_rows_in_a_mirror(mirror, load_careqa, change, problem):
    rewrite(mirror, change)
    with pytest.raises(StudyError, match=problem):
        load_careqa()


def test_odd_texts_in_a_mirror_survive(mirror, load_careqa):
    odd = ["NA", "None\r\n", "null", "\u2028 and \u0085"]
    rewrite(mirror, lambda rows: [row.update(question=text) for row, text in zip(rows, odd, strict=True)])
    assert [item.question for item in load_careqa().items] == odd


def test_jsonl_data_of_a_mirror_survive_separators_and_marks(mirror, load_careqa, root):
    """A Hub repository may hold JSON lines: U+2028 in a text, Windows line ends and a byte order mark."""
    rows = demo_rows(root, "careqa")
    rows[0]["question"] = "one\u2028two"
    lines = "\r\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (mirror / "CareQA_en/test.jsonl").write_bytes(lines.encode())
    (mirror / "README.md").write_text(CARD.replace("test-*.parquet", "test.jsonl"), encoding="utf-8")
    assert [item.question for item in load_careqa().items] == [row["question"] for row in rows]


def test_existing_files(mirror, tmp_path):
    source = benchmarks.get("careqa").source
    (mirror / ".cache").mkdir()
    (mirror / ".cache/lock").write_text("x")
    found = existing_files(source, hub_mirror=str(tmp_path / "hub"), originals="x")
    assert found == [str(mirror / "CareQA_en/test-00000-of-00001.parquet"), str(mirror / "README.md")]
    assert existing_files(source, hub_mirror="nowhere", originals="x") == []
    assert existing_files(benchmarks.get("pubmedqa").source, hub_mirror="x", originals="nowhere") == []
    assert existing_files(benchmarks.get("mimic_hospital_course").source, hub_mirror="x", originals="x") == []


# --- original files -----------------------------------------------------------------------------------


def original(tmp_path, name, content, read, columns):
    (tmp_path / "folder").mkdir(exist_ok=True)
    (tmp_path / "folder" / name).write_bytes(content)
    source = FileSource("folder", (OriginalFile(name, "https://example.org/x"),), read, columns, "none")
    return list(open_source(source, hub_mirror=tmp_path, originals=tmp_path, locked={}).rows)


def csv_file(tmp_path, content, columns=("id", "text")):
    return original(tmp_path, "data.csv", content, lambda paths: csv_rows(paths[0]), columns)


def test_csv_with_newlines_commas_and_quotes_in_cells(tmp_path):
    rows = csv_file(tmp_path, b'id,text\n1,"two\nlines, ""quoted"""\n2,x\n')
    assert rows == [{"id": "1", "text": 'two\nlines, "quoted"'}, {"id": "2", "text": "x"}]


@pytest.mark.parametrize("answer", ["NA", "None", "null", "nan", "N/A", "#N/A", "true", "1e5", "007", " "])
def test_csv_answers_stay_strings(tmp_path, answer):
    assert csv_file(tmp_path, f"id,text\n1,{answer}\n".encode()) == [{"id": "1", "text": answer}]


def test_csv_with_byte_order_mark_and_windows_line_ends(tmp_path):
    plain = csv_file(tmp_path, b'id,text\n1,"two\nlines"\n2,x\n')
    windows = csv_file(tmp_path, codecs.BOM_UTF8 + b'id,text\r\n1,"two\r\nlines"\r\n2,x\r\n')
    assert windows == plain


def test_csv_with_line_separators_in_texts(tmp_path):
    text = "one\u2028two\u0085three\u000bfour"
    assert csv_file(tmp_path, f"id,text\n1,{text}\n".encode()) == [{"id": "1", "text": text}]


def test_csv_with_a_long_cell(tmp_path):
    assert len(csv_file(tmp_path, b"id,text\n1," + b"x" * 300_000 + b"\n")[0]["text"]) == 300_000


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'id,text\n1,"never closed\n', "line 2: unexpected end of data"),
        (b"id,text\n1,a\n2\n", "line 3: has 1 cells, the header 2"),
        (b"id,text\n1,a,b\n", "line 2: has 3 cells, the header 2"),
        (b"id,answer\n1,a\n", "lacks the column text; it has id, answer"),
        (b"", "is empty"),
        (b"id,text\n1,\xff\xfe\n", "can't decode"),
        (b"<html><body>404</body></html>", "is a web page"),
    ],
)
def test_broken_csv(tmp_path, content, problem):
    with pytest.raises(StudyError, match=problem) as raised:
        csv_file(tmp_path, content)
    assert str(tmp_path / "folder/data.csv") in str(raised.value)


def test_json_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(codecs.BOM_UTF8 + b'{"a": 1}\r\n')
    assert json_value(path) == {"a": 1}


def test_xml_with_windows_line_ends(tmp_path):
    path = tmp_path / "x.xml"
    path.write_bytes(codecs.BOM_UTF8 + b"<?xml version='1.0'?>\r\n<a><b>x\r\ny \xe2\x80\xa8</b></a>\r\n")
    assert xml_root(path).findtext("b") == "x\ny \u2028"


def unpinned(name):
    """The benchmark's source with its digests taken off, so that the reader itself meets what is broken."""
    source = benchmarks.get(name).source
    return dataclasses.replace(source, files=tuple(dataclasses.replace(file, sha256=None) for file in source.files))


FILE_BENCHMARKS = [name for name in benchmarks.names() if isinstance(benchmarks.get(name).source, FileSource)]
FILES_OF_A_FOLDER = {"mtsamples"}


@pytest.mark.parametrize("name", sorted(set(FILE_BENCHMARKS) - FILES_OF_A_FOLDER))
@pytest.mark.parametrize(
    "content",
    [
        b"<!doctype html><html><body>Sign in</body></html>",
        b"",
        b"\x00\x01\x02",
        b'{"a": [1, 2',
        b"<a><b>",
        b"[1, 2]",
        b"{}",
    ],
    ids=repr,
)
def test_every_reader_refuses_what_is_not_its_format(tmp_path, name, content):
    source = unpinned(name)
    for file in source.files:
        path = tmp_path / source.folder / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    rows, complaint = [], None
    try:
        rows = list(open_source(source, hub_mirror=tmp_path, originals=tmp_path, locked={}).rows)
    except StudyError as error:
        complaint = str(error)
    assert rows == []  # none at all, which loading refuses
    assert complaint is None or str(tmp_path / source.folder) in complaint


@pytest.mark.parametrize("name", FILE_BENCHMARKS)
def test_missing_originals_name_file_and_remedy(tmp_path, name):
    source = benchmarks.get(name).source
    with pytest.raises(StudyError) as raised:
        open_source(source, hub_mirror=tmp_path, originals=tmp_path, locked={})
    assert str(tmp_path / source.folder / source.files[0].name) in str(raised.value)
    assert "snakemake --cores 1 fetch" in str(raised.value)


def test_a_wrong_digest_stops_with_both(tmp_path):
    source = benchmarks.get("pubmedqa").source
    for file in source.files:
        (tmp_path / "pubmedqa").mkdir(exist_ok=True)
        (tmp_path / "pubmedqa" / file.name).write_bytes(b"{}")
    with pytest.raises(
        StudyError, match=r"ori_pqal.json: has the sha256 44136fa355b3678a\w+, pinned is 8b3276be8942ebbd"
    ):
        open_source(source, hub_mirror=tmp_path, originals=tmp_path, locked={})


def test_a_locked_digest_is_held_to(tmp_path):
    (tmp_path / "usmle").mkdir()
    source = benchmarks.get("entqa_usmle_step1").source
    (tmp_path / "usmle" / source.files[0].name).write_bytes(b"[]")
    locked = {f"file:usmle/{source.files[0].name}": {"sha256": "0" * 64}}
    with pytest.raises(StudyError, match="pinned is 0000"):
        open_source(source, hub_mirror=tmp_path, originals=tmp_path, locked=locked)
    assert list(open_source(source, hub_mirror=tmp_path, originals=tmp_path, locked={}).rows) == []


def test_an_answer_that_differs_from_the_test_key_stops(tmp_path):
    source = unpinned("pubmedqa")
    (tmp_path / "pubmedqa").mkdir()
    row = {"QUESTION": "q?", "CONTEXTS": ["c"], "final_decision": "yes"}
    (tmp_path / "pubmedqa/ori_pqal.json").write_text(json.dumps({"1": row}))
    (tmp_path / "pubmedqa/test_ground_truth.json").write_text('{"1": "no"}')
    with pytest.raises(StudyError, match="1 is 'yes' in the abstracts, 'no' in the test key"):
        list(open_source(source, hub_mirror=tmp_path, originals=tmp_path, locked={}).rows)
    (tmp_path / "pubmedqa/test_ground_truth.json").write_text('{"2": "no"}')
    with pytest.raises(StudyError, match="lacks '2'"):
        list(open_source(source, hub_mirror=tmp_path, originals=tmp_path, locked={}).rows)


def test_mtsamples_files(tmp_path):
    folder = tmp_path / "medical_transcriptions_mtsamples/mtsamples_processed"
    folder.mkdir(parents=True)
    (folder / "a.txt").write_bytes(
        codecs.BOM_UTF8 + b"Medical Specialty:Neurology\r\nNote: NA\r\nKeywords: neurology,\r\n"
    )
    (folder / "empty.txt").write_bytes(b"")
    source = benchmarks.get("mtsamples").source
    rows = list(open_source(source, hub_mirror=tmp_path, originals=tmp_path, locked={}).rows)
    assert rows == [{"file": "a", "medical_specialty": "Neurology", "transcription": "Note: NA"}]
    (folder / "b.txt").write_bytes(b"<html>")
    with pytest.raises(StudyError, match=r"b\.txt does not begin with"):
        list(open_source(source, hub_mirror=tmp_path, originals=tmp_path, locked={}).rows)


def test_loading_needs_no_network(mirror, load_careqa, root, tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert len(load_careqa().items) == 4
    for name in benchmarks.names():
        benchmark = benchmarks.get(name)
        if (root / f"resources/demo/{benchmark.rows}.jsonl").exists():
            prompt = root / f"resources/prompts/{benchmark.prompt}.txt"
            load(name, hub_mirror="none", originals="none", rows=root / "resources/demo", seed=1, prompt=prompt)


def test_every_source_is_of_a_known_kind():
    for name in benchmarks.names():
        source = benchmarks.get(name).source
        assert isinstance(source, sources.Source), name
        if isinstance(source, HubSource):
            assert source.repository.count("/") == 1


def test_nothing_is_written_into_the_mirror(mirror, load_careqa, tmp_path):
    before = sorted(path for path in (tmp_path / "hub").rglob("*"))
    load_careqa()
    assert sorted(path for path in (tmp_path / "hub").rglob("*")) == before
    shutil.rmtree(tmp_path / "hub")
