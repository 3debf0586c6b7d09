"""Every benchmark on the rows that we wrote, and the rules of each one's items."""

import dataclasses
import json
import subprocess
import sys

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from beyondqa import benchmarks, loading
from beyondqa.benchmarks import _casimedicos, _entqa, _prescriptions, _usmle, biored, mimic_hospital_course
from beyondqa.benchmarks.base import first_tenth
from beyondqa.errors import StudyError
from beyondqa.items import MultipleChoiceItem, OpenItem, from_json, to_json
from beyondqa.loading import load
from beyondqa.templates import Template

NAMES = benchmarks.names()
WITH_ROWS = [name for name in NAMES if name != "careqa_open_rebuilt"]


@pytest.fixture
def load_rows(root, tmp_path):
    """Load a benchmark from the demo's rows, or from rows given here."""

    def loader(name, rows=None, **settings):
        benchmark = benchmarks.get(name)
        folder = root / "resources/demo"
        if rows is not None:
            folder = tmp_path
            lines = "".join(json.dumps(row) + "\n" for row in rows)
            (tmp_path / f"{benchmark.rows}.jsonl").write_text(lines, encoding="utf-8")
        settings = {"prompt": root / f"resources/prompts/{benchmark.prompt}.txt", "seed": 3, **settings}
        return load(name, hub_mirror="no mirror", originals="no originals", rows=folder, **settings)

    return loader


def demo_rows(root, name):
    return [json.loads(line) for line in open(root / f"resources/demo/{name}.jsonl", encoding="utf-8")]


@pytest.mark.parametrize("name", WITH_ROWS)
def test_demo_rows_load(load_rows, name):
    benchmark, loaded = benchmarks.get(name), load_rows(name)
    assert 1 <= len(loaded.items) <= 4
    assert (loaded.manifest["partial"], loaded.manifest["partial_reason"]) == (True, "rows written by hand")
    for item in loaded.items:
        assert isinstance(item, MultipleChoiceItem if benchmark.kind == "multiple_choice" else OpenItem)
        assert from_json(json.loads(json.dumps(to_json(item)))) == item
        assert "{" not in item.prompt
        assert item.question.strip() in item.prompt or item.context in item.prompt


def test_ids_are_unique_over_the_study(load_rows):
    ids = [item.id for name in WITH_ROWS for item in load_rows(name).items]
    assert len(ids) == len(set(ids))
    assert all(":" in identifier for identifier in ids)


def test_every_benchmark_of_the_config_has_a_module_and_rows(root):
    config = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    for name in config["benchmarks"]:
        assert benchmarks.get(name).name == name
        assert (root / f"resources/demo/{benchmarks.get(name).rows}.jsonl").exists(), name
        assert (root / f"resources/prompts/{benchmarks.get(name).prompt}.txt").exists(), name


def test_modules_are_cheap_to_import(root):
    code = (
        "import sys; from beyondqa import benchmarks, sources, loading, fetching; "
        "[benchmarks.get(name) for name in benchmarks.names()]; "
        "print([m for m in ('torch', 'datasets', 'pandas', 'numpy', 'pyarrow', 'requests') if m in sys.modules])"
    )
    scripts = root / "workflow/scripts"
    ran = subprocess.run([sys.executable, "-c", code], cwd=scripts, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


# Layouts: study-facts.md 2, "Close-ended". The candidates' leading space is the harness's target_delimiter.
LAYOUTS = {
    "careqa": (
        "Question: Which of the following is the drug of choice for anaphylaxis?\nChoices:\n"
        "A. Intravenous hydrocortisone.\nB. Intramuscular adrenaline.\nC. Oral cetirizine.\nD. Inhaled salbutamol.\n"
        "Answer:"
    ),
    "medmcqa": (
        "Question: Which vitamin is needed for the gamma-carboxylation of clotting factors II, VII, IX and X?\n"
        "Choices:\nA. Vitamin A\nB. Vitamin B12\nC. Vitamin C\nD. Vitamin K\nAnswer:"
    ),
    "mmlu": (
        "The following are multiple choice questions (with answers) about anatomy.\n\n"
        "Which cranial nerve innervates the lateral rectus muscle of the eye?\n"
        "A. Oculomotor nerve\nB. Trochlear nerve\nC. Abducens nerve\nD. Optic nerve\nAnswer:"
    ),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layout_of_multiple_choice_prompts(load_rows, name):
    item = load_rows(name).items[0]
    assert item.prompt == LAYOUTS[name]
    assert item.candidates == (" A", " B", " C", " D")


def test_layout_of_medqa(load_rows, root):
    item, row = load_rows("medqa").items[0], demo_rows(root, "medqa")[0]
    lines = "".join(f"{letter}. {row[f'ending{i}']}\n" for i, letter in enumerate("ABCD"))
    assert item.prompt == f"Question: {row['sent1']}\n{lines}Answer:"


def test_layout_of_pubmedqa(load_rows, root):
    item, row = load_rows("pubmedqa").items[0], demo_rows(root, "pubmedqa")[0]
    abstract = "\n".join(row["CONTEXTS"])
    assert item.prompt == f"Abstract: {abstract}\nQuestion: {row['QUESTION']}\nAnswer:"
    assert item.candidates == (" yes", " no", " maybe")


def test_gold_counts_from_0_or_1_as_the_source_does(load_rows):
    """The answers are those of medicine, not of the reader: vitamin K, adrenaline, insulin, abducens nerve."""
    assert [load_rows("medmcqa").items[0].options[3], load_rows("medmcqa").items[0].gold] == ["Vitamin K", 3]
    careqa = load_rows("careqa").items[0]
    assert careqa.options[careqa.gold] == "Intramuscular adrenaline."
    medqa = load_rows("medqa").items[0]
    assert medqa.options[medqa.gold] == "Intravenous regular insulin"
    mmlu = load_rows("mmlu").items[0]
    assert mmlu.options[mmlu.gold] == "Abducens nerve"
    casimedicos = load_rows("casimedicos").items[0]
    assert casimedicos.options[casimedicos.gold] == "IgA nephropathy."
    medexpqa = load_rows("entqa_medexpqa").items[0]
    assert medexpqa.options[medexpqa.gold] == "A direct oral anticoagulant."
    topics = load_rows("medical_abstracts").items
    assert [item.options[item.gold] for item in topics] == [
        "neoplasms",
        "general pathological conditions",
        "cardiovascular diseases",
    ]


def test_classification_candidates_are_the_labels(load_rows):
    item = load_rows("medical_transcriptions").items[0]
    assert len(item.candidates) == 40  # study-facts.md 2
    assert item.candidates[item.gold] == " Ophthalmology"
    assert all(option in item.prompt for option in item.options)


def test_entqa_items(load_rows):
    benchmark = benchmarks.get("entqa_medqa")
    assert (benchmark.stages, benchmark.max_new_tokens, benchmark.stop) == (("greedy",), 1024, ())
    item = load_rows("entqa_medqa").items[0]
    assert item.metadata["question"] == item.question
    assert "The correct answer is [letter]." in item.prompt
    assert "Explanation:" in item.prompt
    assert len(load_rows("entqa_medexpqa").items[1].options) == 4  # the fifth is null there


def test_mediqa_references(load_rows):
    """The first listed answer, and the one with reference rank 1: in the first row they differ."""
    assert load_rows("mediqa2019").items[0].metadata["ReferenceRank"] == "2"
    assert load_rows("mediqa2019_best").items[0].metadata["ReferenceRank"] == "1"


def test_mediqa_without_one_best_answer_stops(load_rows, root):
    row = demo_rows(root, "mediqa2019")[0]
    for answer in row["AnswerList"]:
        answer["ReferenceRank"] = "1"
    with pytest.raises(StudyError, match="mediqa2019_best:demo-1: has 2 answers with reference rank 1"):
        load_rows("mediqa2019_best", [row])


def test_meddialog_takes_the_second_utterance(load_rows):
    rows = [
        {
            "description": "It hurts: here.",
            "utterances": ["patient: It hurts.", "doctor: See: rest helps.", "patient: ok"],
        },
        {"description": "Hello?", "utterances": ["patient: Hello?"]},
    ]
    loaded = load_rows("meddialog_raw", rows)
    assert [item.reference for item in loaded.items] == ["See: rest helps."]
    assert loaded.manifest["filters"] == [{"name": "has a second utterance", "before": 2, "after": 1}]


# 494 of 4,948: study-facts.md 2; 1,443 of 14,438: tables/datasets.csv.
@pytest.mark.parametrize(("rows", "kept"), [(4948, 494), (14438, 1443), (9, 0), (10, 1)])
def test_first_tenth(rows, kept):
    assert list(first_tenth(range(rows))) == list(range(kept))


def test_the_tenth_is_not_taken_of_rows_written_by_hand(load_rows):
    assert len(load_rows("olaph").items) == 3


# Cut by hand as study-facts.md 2 describes: at the words, and at five spaces.
@pytest.mark.parametrize(
    ("note", "expected"),
    [
        ("FINDINGS: clear.     IMPRESSION: normal.     END", ("FINDINGS: clear.", "IMPRESSION: normal.")),
        ("impression: normal. findings: clear lungs.", ("findings: clear lungs.", "impression: normal.")),
        ("Lungs are clear. IMPRESSION: normal.", ("Lungs are clear.", "IMPRESSION: normal.")),
        ("FINDINGS: clear.", ("", "")),
        ("no IMPRESSION", ("", "IMPRESSION")),
    ],
)
def test_parts_of_a_radiology_report(note, expected):
    assert mimic_hospital_course.parts(note) == expected


def test_entities_of_a_document():
    def annotation(identifier, text):
        return {"infons": {"identifier": identifier, "type": "ChemicalEntity"}, "text": text}

    document = {
        "passages": [
            {"annotations": [annotation("D1", "ASA"), annotation("D1", "aspirin"), annotation("D1", "aspirin")]},
            {"annotations": [annotation("D2,D3", "aspirin/heparin"), annotation("D4", "x"), annotation("D4", "y")]},
        ]
    }
    entities = biored._entities(document)
    assert entities["D1"] == ("aspirin", "ChemicalEntity")
    assert entities["D2"] == entities["D3"] == entities["D2,D3"] == ("aspirin/heparin", "ChemicalEntity")
    assert entities["D4"][0] == "x"


def tokens(*sentences):
    return "\n\n".join("\n".join(f"{token} O" for token in sentence.split()) for sentence in sentences) + "\n"


def test_casimedicos_documents(tmp_path):
    path = tmp_path / "test.tsv"
    case = (
        "CLINICAL CASE:",
        "2-year-old boy.",
        "What now?",
        "1- Wait.",
        "2- Act.",
        "At once.",
        "CORRECT ANSWER: 2",
        "So it is.",
    )
    path.write_text(tokens("QUESTION TYPE: X Y", *case, "QUESTION TYPE: Z", *case), encoding="utf-8")
    first, second = _casimedicos.documents(path)
    assert first == {
        "type": "X Y",
        "full_question": "2-year-old boy. What now?",
        "options": {"1": "Wait.", "2": "Act. At once."},
        "correct_option": "2",
        "full_answer": "So it is.",
    }
    assert second["type"] == "Z"


@pytest.mark.parametrize(
    "content", ["one two three four\n", tokens("CLINICAL CASE:"), tokens("QUESTION TYPE: X", "CLINICAL CASE:", "1- A.")]
)
def test_casimedicos_files_that_are_none(tmp_path, content):
    path = tmp_path / "test.tsv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=r"no token|begins with|has no line"):
        list(_casimedicos.documents(path))


def test_options_of_the_usmle_records():
    """The block as the authors' records hold it (facts/entqa-cases: letter, full stop, text, trailing blank)."""
    assert _usmle.options("\nA. 105-155 \nB. 120-140 \nC. U. S. law \n") == ("105-155", "120-140", "U. S. law")
    with pytest.raises(ValueError, match="not lines lettered"):
        _usmle.options("\nA. one \nC. three \n")


def test_options_by_label():
    assert _entqa.options_by_label({"1": "a", "2": "b", "3": None}, "123") == ("a", "b")
    for broken in ({"1": None, "2": "b"}, {"1": "a", "2": None, "3": "c"}, {}, {"1": "a", "9": "b"}):
        with pytest.raises(ValueError, match="options"):
            _entqa.options_by_label(broken, "123")


def prescription(diagnosis, *medicines):
    keys = ("medicine_name", "medicine_frequency", "course_duration")
    details = [dict(zip(keys, medicine, strict=True)) for medicine in medicines]
    return {"results": repr({"procedure": {"chief_complaints_diagnosis": diagnosis}, "medicine_details": details})}


PRESCRIPTIONS = [
    prescription(
        "Knee pain", ("Tab naproxen 500 mg", "Twice daily", "5 days"), ("Tab Omeprazole", "Once daily", "5 days")
    ),
    prescription("Eczema", ("KENACORT cream", "At night", "NA")),
    prescription("Cough", ("Syrup Ambroxol", "Thrice daily", "3 days"), ("NA", "Twice daily", "3 days")),
    prescription("Fever", ("Tab Paracetamol", "As needed", "not specified")),
    prescription("बुखार", ("Tab Paracetamol", "As needed", "1 day")),
    prescription("NA", ("Tab Ibuprofen", "Once", "1 day")),
    prescription("Rash", ("Tab Cetirizine", "NA", "n/a")),
    {"results": "['no record']"},
]


@pytest.mark.parametrize("name", ["prescriptions_easy", "prescriptions_hard"])
def test_prescription_options_are_drawn_once(load_rows, name):
    loaded = load_rows(name, PRESCRIPTIONS)
    assert loaded.manifest["filters"][0] | {"name": ""} == {"name": "", "before": 8, "after": 5}
    for item, row in zip(loaded.items, [*PRESCRIPTIONS[:4], PRESCRIPTIONS[6]], strict=True):
        assert item.candidates == tuple(f" {option}" for option in item.options)
        assert all(f"{letter}. {option}" in item.prompt for letter, option in zip("ABCD", item.options, strict=True))
        assert len(set(item.options)) == 4
        listed = {str(medicine) for medicine in _prescriptions.medicines(_prescriptions.record(row))}
        assert item.options[item.gold] in listed
    assert load_rows(name, PRESCRIPTIONS).items == loaded.items
    assert load_rows(name, PRESCRIPTIONS, seed=4).items != loaded.items


def test_prescription_names_are_not_damaged():
    """The harness's replacement of "na" makes Tabproxen of Tab naproxen and KECORT of KENACORT (peer-check.md 6)."""
    rows = [_prescriptions.record(row) for row in PRESCRIPTIONS]
    assert str(_prescriptions.medicines(rows[0])[0]) == "Tab naproxen 500 mg, twice daily, 5 days"
    assert [str(m) for m in _prescriptions.medicines(rows[1])] == ["KENACORT cream, at night"]
    assert [str(m) for m in _prescriptions.medicines(rows[2])] == ["Syrup Ambroxol, thrice daily, 3 days"]
    assert [str(m) for m in _prescriptions.medicines(rows[6])] == ["Tab Cetirizine"]
    assert _prescriptions.medicines({"medicine_details": [{"medicine_name": "Tab Aspirin"}]}) == []


def test_wrong_prescriptions(load_rows):
    """Easy: medicines of other patients. Hard: the patient's medicines in doses that are not listed."""
    by_question = {item.question: item for item in load_rows("prescriptions_easy", PRESCRIPTIONS).items}
    wrong = set(by_question["Knee pain"].options) - {by_question["Knee pain"].options[by_question["Knee pain"].gold]}
    assert wrong < {
        "KENACORT cream, at night",
        "Syrup Ambroxol, thrice daily, 3 days",
        "Tab Paracetamol, as needed",
        "Tab Cetirizine",
    }
    item = next(i for i in load_rows("prescriptions_hard", PRESCRIPTIONS).items if i.question == "Eczema")
    assert all(option.startswith("KENACORT cream, ") for option in item.options)


def test_hard_prescriptions_do_not_move_when_rows_come_or_go(load_rows):
    all_rows = {item.id: item for item in load_rows("prescriptions_hard", PRESCRIPTIONS).items}
    for item in load_rows("prescriptions_hard", PRESCRIPTIONS[1:4]).items:
        assert all_rows[item.id] == item


@pytest.mark.parametrize("results", ["{", "no literal", "__import__('os').getcwd()"])
def test_prescription_records_are_read_as_literals_only(load_rows, results):
    with pytest.raises(StudyError, match="results"):
        load_rows("prescriptions_easy", [{"results": results}])


def test_few_shot_examples_are_other_items_with_their_answers(load_rows):
    loaded = load_rows("mmlu", few_shot=2)
    plain = {item.id: item for item in load_rows("mmlu").items}
    header = "The following are multiple choice questions (with answers) about anatomy.\n\n"
    first = loaded.items[0]
    assert first.prompt.startswith(header)
    assert first.prompt.count("The following are") == 1
    shots = first.prompt.removeprefix(header).split("\n\n")
    assert len(shots) == 3
    assert shots[-1] == plain[first.id].prompt.removeprefix(header)
    answered = {item.prompt.split("\n\n", 1)[1] + item.candidates[item.gold]: item.id for item in plain.values()}
    assert {answered[shot] for shot in shots[:-1]} < set(plain) - {first.id}
    assert load_rows("mmlu", few_shot=2).items == loaded.items


def test_too_few_items_for_the_examples(load_rows):
    with pytest.raises(StudyError, match="3 other items, too few for 4"):
        load_rows("mmlu", few_shot=4)


def test_limit_labels_the_benchmark_partial(load_rows):
    loaded = load_rows("careqa", limit=2)
    assert [item.id for item in loaded.items] == ["careqa:demo-1", "careqa:demo-2"]
    assert loaded.manifest["partial_reason"] == "rows written by hand; the first 2 of 4 items"


def test_a_broken_row_stops_the_run_whatever_the_limit(load_rows, root):
    rows = demo_rows(root, "careqa")
    rows[3]["cop"] = 5
    with pytest.raises(StudyError, match="careqa:demo-4: gold index 4 is out of range for 4 options"):
        load_rows("careqa", rows, limit=1)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"question": None}, "question is null"),
        ({"question": " \n"}, "question is empty"),
        ({"question": 3}, "question is no text but 3"),
        ({"cop": 0}, "gold index -1 is out of range"),
        ({"cop": None}, "cop is None, not a whole number"),
        ({"cop": 2.5}, "cop is 2.5, not a whole number"),
        ({"cop": True}, "cop is True, not a whole number"),
        ({"op3": None}, "op3 is null"),
        ({"unique_id": "demo-1"}, "two rows have this id"),
    ],
)
def test_broken_rows_name_file_record_and_fault(load_rows, root, tmp_path, change, problem):
    rows = demo_rows(root, "careqa")
    rows[1].update(change)
    record = f"careqa:{rows[1]['unique_id']}"
    with pytest.raises(StudyError) as raised:
        load_rows("careqa", rows)
    assert problem in str(raised.value)
    assert record in str(raised.value)
    assert str(tmp_path / "careqa.jsonl") in str(raised.value)


def test_a_renamed_column_is_named(load_rows, root):
    rows = demo_rows(root, "careqa")
    rows[2]["answer"] = rows[2].pop("cop")
    with pytest.raises(StudyError, match="record row 3: lacks the column cop; it has exam_id"):
        load_rows("careqa", rows)


@pytest.mark.parametrize("text", ["NA", "None", "null", "nan", "0", "a\u2028b\u0085c", "a\r\nb", "\ud800", "<html>"])
def test_odd_texts_survive(load_rows, root, text):
    rows = demo_rows(root, "careqa")
    rows[0] |= {"question": text, "op1": text}
    item = load_rows("careqa", rows).items[0]
    assert (item.question, item.options[0]) == (text, text)


def test_braces_in_a_text_are_no_placeholders(load_rows, root):
    rows = demo_rows(root, "careqa")
    rows[0]["question"] = "{gold} {0} {question.__class__}"
    assert "Question: {gold} {0} {question.__class__}\n" in load_rows("careqa", rows).items[0].prompt


def test_no_rows_left(load_rows):
    with pytest.raises(StudyError, match="no row is left"):
        load_rows("careqa", [])


def test_credentialed_data_are_named_as_not_available(root):
    loaded = load(
        "mimic_hospital_course",
        hub_mirror="none",
        originals="none",
        seed=1,
        prompt=root / "resources/prompts/mimic_hospital_course.txt",
    )
    assert loaded.items == []
    assert loaded.manifest["available"] is False
    assert loaded.manifest["reason"] == "not available: needs credentialed access (PhysioNet)"


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_credentialed_files(root, tmp_path, ending):
    import pandas as pd

    path = tmp_path / f"test.{ending}"
    notes = ["FINDINGS: clear.     IMPRESSION: normal, NA.", "nothing of the kind"]
    frame = pd.DataFrame({"extractive_notes_summ": notes})
    writers = {
        "csv": lambda: frame.to_csv(path, index=False),
        "jsonl": lambda: frame.to_json(path, orient="records", lines=True),
        "parquet": lambda: frame.to_parquet(path),
    }
    writers[ending]()
    prompt = root / "resources/prompts/mimic_hospital_course.txt"
    loaded = load("mimic_hospital_course", hub_mirror="none", originals="none", seed=1, prompt=prompt, path=path)
    assert [(item.question, item.reference) for item in loaded.items] == [
        ("FINDINGS: clear.", "IMPRESSION: normal, NA.")
    ]


def test_rows_without_an_id_of_their_own_that_repeat(load_rows, root):
    rows = demo_rows(root, "medtext")
    loaded = load_rows("medtext", [*rows, rows[0], rows[0]])
    first = loaded.items[0].id
    assert [item.id for item in loaded.items[-2:]] == [f"{first}-2", f"{first}-3"]
    assert loaded.manifest["duplicate_rows"] == [f"{first}-2", f"{first}-3"]


@given(order=st.permutations(range(3)))
def test_ids_stay_when_rows_move(order, tmp_path_factory):
    root = loading.Path(__file__).resolve().parents[2]
    rows = demo_rows(root, "medtext")
    folder = tmp_path_factory.mktemp("rows")
    lines = "".join(json.dumps(rows[index]) + "\n" for index in order)
    (folder / "medtext.jsonl").write_text(lines, encoding="utf-8")
    prompt = root / "resources/prompts/medtext.txt"
    loaded = load("medtext", hub_mirror="", originals="", rows=folder, seed=1, prompt=prompt)
    ids = {item.question: item.id for item in loaded.items}
    again = load("medtext", hub_mirror="", originals="", rows=root / "resources/demo", seed=1, prompt=prompt)
    assert ids == {item.question: item.id for item in again.items}


def test_manifest_counts_and_lengths(load_rows):
    manifest = load_rows("careqa").manifest
    assert manifest["counts"]["category"] == {"Medicine": 1, "Nursing": 1, "Pharmacology": 1, "Psychology": 1}
    assert manifest["counts"]["gold"] == {"A": 1, "B": 1, "C": 1, "D": 1}
    # Words of the four questions, counted by hand: 11, 19, 7 and 21.
    lengths = manifest["text_lengths"]["question"]
    assert (lengths["n"], lengths["minimum"], lengths["median"], lengths["maximum"]) == (4, 7, 15, 21)
    json.dumps(manifest, allow_nan=False)


def test_templates(tmp_path):
    path = tmp_path / "prompt.txt"
    path.write_text("Do {what}.\n---\n{question} {{x}}\n", encoding="utf-8")
    assert Template(path).fill({"what": "it", "question": "q?"}) == "Do it.\nq? {x}"
    path.write_text("{nothing}\n", encoding="utf-8")
    with pytest.raises(StudyError, match=r"knows no \{nothing\}. It may be one of: question"):
        Template(path).fill({"question": "q?"})
    path.write_text("{question\n", encoding="utf-8")
    with pytest.raises(StudyError, match="not a template"):
        Template(path)
    with pytest.raises(StudyError, match="Write the prompt template"):
        Template(tmp_path / "none.txt")


def test_a_benchmark_of_an_unknown_task_or_kind_is_refused():
    benchmark = benchmarks.get("careqa")
    for broken in ({"task": "chess"}, {"kind": "closed"}):
        with pytest.raises(ValueError, match="unknown"):
            dataclasses.replace(benchmark, **broken)
