"""Real rows through the code paths of the study, judged by second copies of the same data.

The second copies are read here with csv, json and regular expressions, not with the library's readers.
"""

import collections
import csv
import dataclasses
import gzip
import importlib
import json
import re
import subprocess
import sys
import time

import pytest

from beyondqa import benchmarks
from beyondqa.errors import StudyError
from beyondqa.loading import load

PARTIAL = {"mts_dialog": 500, "olaph": 1871, "olaph_full": 1871}


@pytest.fixture(scope="module")
def load_real(shared, root):
    def loader(name, **settings):
        settings = {"hub_mirror": shared / "hub", "originals": shared / "data", **settings}
        prompt = root / f"resources/prompts/{benchmarks.get(name).prompt}.txt"
        return load(name, seed=7, prompt=prompt, **{"expected_rows": PARTIAL.get(name), **settings})

    return loader


def recorded(shared, name):
    """One recorded run of the MedAgents benchmark: questions, options and gold letters of its own."""
    folder = shared / "recorded/medagents_benchmark_zero_shot" / name
    with gzip.open(folder / f"gpt-4o-mini-{name}-test-zero_shot.json.gz") as file:
        return json.load(file)


def squeezed(text):
    return re.sub(r"\W+", "", text.lower())


# Counts: study-facts.md section 2 and the SOURCE.md beside each file.
@pytest.mark.parametrize(
    ("name", "rows", "items"),
    [
        ("medmcqa", 4183, 4183),
        ("medqa", 1273, 1273),
        ("entqa_medqa", 1273, 1273),
        ("mmlu", 1089, 1089),
        ("careqa", 5621, 5621),
        ("pubmedqa", 500, 500),
        ("mediqa2019", 150, 150),
        ("mediqa2019_best", 150, 150),
        ("aci_bench", 120, 120),
        ("aci_bench_test2", 40, 40),
        ("biored", 1163, 1163),
        ("medical_abstracts", 2888, 2888),
        ("mtsamples", 1269, 1269),
        ("casimedicos", 117, 117),
        ("casimedicos_es", 117, 117),
        ("mts_dialog", 500, 500),
        ("olaph", 1871, 187),
    ],
)
def test_counts(load_real, name, rows, items):
    loaded = load_real(name)
    assert (loaded.manifest["rows"], loaded.manifest["items"], len(loaded.items)) == (rows, items, items)
    assert len({item.id for item in loaded.items}) == items
    assert all(item.id.startswith(f"{name}:") for item in loaded.items)


def test_careqa_grid(load_real, shared):
    """The grid in tables/careqa_closed_counts.csv; gold letters: study-facts.md 1d."""
    items = load_real("careqa").items
    found = collections.Counter((item.metadata["category"], str(item.metadata["year"])) for item in items)
    with open(shared / "facts/tables/careqa_closed_counts.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["category"] != "ALL":
                assert [found[row["category"], str(year)] for year in range(2020, 2025)] == [
                    int(row[str(year)]) for year in range(2020, 2025)
                ]
    assert collections.Counter(item.gold for item in items) == {0: 1390, 1: 1460, 2: 1486, 3: 1285}


def test_mts_dialog_and_olaph_are_labelled_partial(load_real):
    assert load_real("mts_dialog").manifest["partial_reason"] == "the mirror holds 500 of 1301 rows"
    assert load_real("olaph").manifest["partial_reason"] == "the mirror holds 1871 of 4948 rows"
    assert not load_real("medqa").manifest["partial"]


def test_a_partial_mirror_that_does_not_say_so_stops_with_both_numbers(load_real):
    with pytest.raises(StudyError, match="holds 500 rows, expected are 1301"):
        load_real("mts_dialog", expected_rows=None)


def test_medqa_gold_is_that_of_the_medagents_copy(load_real, shared):
    lines = (shared / "data/medqa_usmle_4opt/medagents_medqa_test.jsonl").read_text().splitlines()
    theirs = {squeezed(row["question"]): row for row in map(json.loads, lines)}
    items = load_real("medqa").items
    assert len(theirs) == len(items)
    for item in items:
        row = theirs[squeezed(item.question)]
        assert [*map(squeezed, item.options)] == [*map(squeezed, row["options"].values())], item.id
        assert "ABCD"[item.gold] == row["answer_idx"], item.id


def test_medmcqa_gold_is_that_of_the_recorded_runs(load_real, shared):
    def key(question, options):
        return squeezed(question), tuple(squeezed(option) for option in options)

    # MedMCQA repeats 13 questions, some with another answer: a key may stand for several items.
    ours = collections.defaultdict(set)
    for item in load_real("medmcqa").items:
        ours[key(item.question, item.options)].add("ABCD"[item.gold])
    rows = recorded(shared, "medmcqa")
    assert len(rows) == 2816
    for row in rows:
        assert row["answer_idx"] in ours[key(row["question"], row["options"].values())], row["realidx"]


def test_mmlu_gold_is_that_of_the_recorded_runs(load_real, shared):
    ours = {}
    for item in load_real("mmlu").items:
        ours[item.metadata["subject"], squeezed(item.question), tuple(map(squeezed, item.options))] = item
    rows = recorded(shared, "mmlu")
    for row in rows:
        item = ours[row["subject"], squeezed(row["question"]), tuple(map(squeezed, row["options"].values()))]
        assert "ABCD"[item.gold] == row["answer_idx"], item.id
    assert len(rows) == 1089


def test_pubmedqa_gold_is_that_of_the_recorded_runs(load_real, shared):
    loaded = load_real("pubmedqa")
    ours = {item.id.removeprefix("pubmedqa:"): item for item in loaded.items}
    rows = recorded(shared, "pubmedqa")
    assert {row["realidx"] for row in rows} == set(ours)
    for row in rows:
        item = ours[row["realidx"]]
        assert item.options[item.gold] == row["answer"], item.id
        assert squeezed(item.context) in squeezed(row["question"]), item.id
    # Distribution of the test key: study-facts.md 2.
    assert loaded.manifest["counts"]["answer"] == {"maybe": 55, "no": 169, "yes": 276}


def test_mediqa_best_answer_heads_the_organisers_ranking(load_real, shared):
    """The organisers' ground truth lists the answers of a question in the order of their reference rank."""
    best = {}
    with open(shared / "data/mediqa2019/QA_testSet_ground_truth_round_2.txt", newline="") as file:
        for row in csv.DictReader(file):
            best.setdefault(row["question_id"], row["answer_id"])
    found = {item.id.split(":")[1]: item.metadata["AID"] for item in load_real("mediqa2019_best").items}
    assert found == best


def test_mediqa_first_listed_answer(load_real, shared):
    text = (shared / "data/mediqa2019/MEDIQA2019-Task3-QA-TestSet-wLabels.xml").read_text(encoding="utf-8")
    first = {
        qid: re.search(r'<Answer AID="([^"]+)"', rest)[1]
        for qid, rest in re.findall(r'<Question QID="(\d+)">(.*?)</Question>', text, re.DOTALL)
    }
    items = load_real("mediqa2019").items
    assert {item.id.split(":")[1]: item.metadata["AID"] for item in items} == first
    assert all(item.metadata["SystemRank"] == "1" for item in items)


def test_aci_bench_notes_are_the_references_of_the_recorded_runs(load_real, shared):
    path = shared / "recorded/aci_bench_baselines/predictions/test2GPT-4_.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    theirs = {squeezed(row["Reference Summaries"]) for row in rows}
    items = load_real("aci_bench_test2").items
    assert {squeezed(item.reference) for item in items} == theirs
    assert [item.id for item in items[:2]] == ["aci_bench_test2:D2N128", "aci_bench_test2:D2N129"]


def test_biored_relations_are_those_of_the_pubtator_file(load_real, shared):
    relations, mentions = collections.Counter(), collections.defaultdict(set)
    for line in (shared / "data/biored/Test.PubTator").read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        if len(cells) == 5:
            relations[cells[0], cells[1]] += 1
        elif len(cells) == 6:
            mentions[cells[0]].add((cells[3], cells[4]))
    items = load_real("biored").items
    assert collections.Counter((i.id.split(":")[1].split("-")[0], i.metadata["relation"]) for i in items) == relations
    for item in items:
        pmid = item.id.split(":")[1].split("-")[0]
        for end in ("entity1", "entity2"):
            assert (item.metadata[end], item.metadata[f"{end}_type"]) in mentions[pmid], item.id
            assert item.metadata[end] in item.context, item.id
        assert item.options[item.gold].replace(" ", "_") == item.metadata["relation"]


def test_olaph_rows_are_those_of_the_original_files(load_real, shared):
    theirs = []
    for name in ("kqa_golden_test", "live_qa_test", "kqa_silver_wogold_test", "medication_qa_test"):
        with open(shared / f"data/olaph_medlfqa/{name}_MedLFQA.jsonl", encoding="utf-8", newline="\n") as file:
            theirs += [json.loads(line) for line in file]
    items = load_real("olaph").items
    for item, row in zip(items, theirs, strict=False):
        assert item.question == row["Question"]
        assert item.reference == row["Free_form_answer"]
        assert list(item.must_have) == row["Must_have"]
        assert list(item.nice_to_have) == row["Nice_to_have"]


def test_olaph_in_full_leaves_out_the_row_without_an_answer(load_real):
    loaded = load_real("olaph_full")
    assert loaded.manifest["filters"] == [{"name": "has an answer", "before": 1871, "after": 1870}]
    assert len(loaded.manifest["duplicate_rows"]) == len(loaded.items) - len(
        {(i.question, i.reference, i.must_have, i.nice_to_have) for i in loaded.items}
    )


def test_mts_dialog_rows_are_those_of_the_original_files(load_real, shared):
    theirs = []
    for name in ("ValidationSet", "TestSet-1-MEDIQA-Chat-2023", "TestSet-2-MEDIQA-Sum-2023"):
        with open(shared / f"data/mts_dialog/MTS-Dialog-{name}.csv", encoding="utf-8-sig", newline="") as file:
            theirs += [(squeezed(row["dialogue"]), squeezed(row["section_text"])) for row in csv.DictReader(file)]
    ours = [(squeezed(item.question), squeezed(item.reference)) for item in load_real("mts_dialog").items]
    assert sorted(ours) == sorted(theirs)


def test_mtsamples_specialties(load_real, shared):
    found = collections.Counter()
    for path in (shared / "data/medical_transcriptions_mtsamples/mtsamples_processed").glob("*.txt"):
        found[re.match(r"Medical Specialty:(.*)", path.read_text(encoding="utf-8"))[1].strip()] += 1
    loaded = load_real("mtsamples")
    assert loaded.manifest["counts"]["specialty"] == dict(found)
    assert not any("Keywords:" in item.prompt for item in loaded.items)


def test_medical_abstracts_topics_are_named_as_in_the_label_file(load_real, shared):
    with open(shared / "data/medical_abstracts/medical_tc_labels.csv", newline="") as file:
        names = [row["condition_name"] for row in csv.DictReader(file)]
    with open(shared / "data/medical_abstracts/medical_tc_test.csv", encoding="utf-8", newline="") as file:
        found = collections.Counter(names[int(row["condition_label"]) - 1] for row in csv.DictReader(file))
    loaded = load_real("medical_abstracts")
    assert list(loaded.items[0].options) == names
    assert loaded.manifest["counts"]["topic"] == dict(found)


def test_casimedicos_answers_agree_between_the_languages(load_real, shared):
    english, spanish = load_real("casimedicos").items, load_real("casimedicos_es").items
    tokens = (shared / "data/casimedicos_medexpqa_kin/EN/test.tsv").read_text(encoding="utf-8")
    answers = re.findall(r"CORRECT O\nANSWER: O\n(\d) O\n", tokens)
    assert [item.gold + 1 for item in english] == [int(answer) for answer in answers]
    assert [item.gold for item in english] == [item.gold for item in spanish]
    assert all(len(item.options) == 5 for item in english + spanish)
    assert english[0].question.startswith("2-year-old boy. His personal history includes 3 episodes")


def test_usmle_records_of_the_entqa_authors(load_real, shared, tmp_path):
    """Three real records in the layout of the authors' files; the count is declared as partial."""
    (tmp_path / "usmle").mkdir()
    records = json.loads((shared / "facts/entqa-cases/records.json").read_text(encoding="utf-8"))
    target = tmp_path / "usmle/extracted_72B-Qwen25_USMLE_STEP_1.json"
    target.write_text(json.dumps(records), encoding="utf-8")
    loaded = load_real("entqa_usmle_step1", originals=tmp_path, expected_rows=len(records))
    assert loaded.manifest["partial_reason"] == "the mirror holds 3 of 94 rows"
    first = loaded.items[0]
    assert first.options == ("105-155", "120-140", "125-135", "128-132", "129-131")
    assert first.gold == 1
    assert first.metadata["question"] == records[0]["background"]


def test_pinned_digests_are_those_of_the_originals(load_real):
    for name in ("pubmedqa", "mediqa2019", "aci_bench", "biored", "medical_abstracts", "casimedicos"):
        source = benchmarks.get(name).source
        described = load_real(name).manifest["source"]["files"]
        assert [file["sha256"] for file in described] == [file.sha256 for file in source.files]


def test_largest_benchmark_takes_seconds(load_real):
    load_real("medqa")  # the import of the datasets library is not what is measured
    start = time.perf_counter()
    load_real("careqa")
    assert time.perf_counter() - start < 10


@pytest.mark.parametrize("name", ["pubmedqa", "mediqa2019", "aci_bench", "biored", "medical_abstracts", "casimedicos"])
def test_a_truncated_copy_stops(load_real, shared, tmp_path, monkeypatch, name):
    """The digest tells it; where none is pinned, the reader or the count of rows does."""
    benchmark = benchmarks.get(name)
    folder = benchmark.source.folder
    for file in benchmark.source.files:
        data = (shared / "data" / folder / file.name).read_bytes()
        target = tmp_path / folder / file.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data[: int(0.6 * len(data))])
    with pytest.raises(StudyError, match=r"has the sha256 \w+, pinned is"):
        load_real(name, originals=tmp_path)
    files = tuple(dataclasses.replace(file, sha256=None) for file in benchmark.source.files)
    unpinned = dataclasses.replace(benchmark, source=dataclasses.replace(benchmark.source, files=files))
    monkeypatch.setattr(importlib.import_module(f"beyondqa.benchmarks.{name}"), "BENCHMARK", unpinned)
    with pytest.raises(StudyError, match=folder):
        load_real(name, originals=tmp_path)


def test_no_network_and_no_home_are_needed(shared, root, tmp_path):
    """In a process of its own, whose sockets refuse to connect and whose home folder stays empty."""
    home = tmp_path / "home"
    home.mkdir()
    code = f"""
import socket, sys
def refuse(*args, **kwargs):
    raise SystemExit("the network was asked")
socket.socket.connect = socket.getaddrinfo = refuse
from beyondqa.loading import load
for name, count in {{"careqa": 5621, "mmlu": 1089, "mediqa2019": 150}}.items():
    prompt = {str(root)!r} + f"/resources/prompts/{{name}}.txt"
    loaded = load(name, hub_mirror={str(shared / "hub")!r}, originals={str(shared / "data")!r}, seed=1, prompt=prompt)
    assert len(loaded.items) == count
"""
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", code], cwd=root / "workflow/scripts", env=environment, check=True)
    assert list(home.rglob("*")) == []


def test_a_mirror_may_be_named_by_a_relative_path(shared, root, monkeypatch, tmp_path):
    """config/real_sample.yaml names it that way; `datasets` tells absolute paths of its files."""
    (tmp_path / "checkout").mkdir()
    (tmp_path / "shared").symlink_to(shared)
    monkeypatch.chdir(tmp_path / "checkout")
    prompt = root / "resources/prompts/careqa.txt"
    loaded = load("careqa", hub_mirror="../shared/hub", originals="../shared/data", seed=1, prompt=prompt, limit=3)
    assert len(loaded.items) == 3
