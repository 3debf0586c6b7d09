"""PubMedQA: questions answered from an abstract, the 500 labelled items of the test key."""

from collections.abc import Iterator
from pathlib import Path

from ._read import json_value
from .base import Benchmark, FileSource, OriginalFile, Row, position, present, text, texts

ANSWERS = ("yes", "no", "maybe")
_ADDRESS = "https://raw.githubusercontent.com/pubmedqa/pubmedqa/1cbae8e92f72f20c8d3747cbb3bf5bc53554d997/data/"


def _read(paths: list[Path]) -> Iterator[Row]:
    abstracts, key = (json_value(path) for path in paths)
    for pmid, answer in key.items():
        row = abstracts[pmid]
        if row["final_decision"] != answer:
            raise ValueError(f"{pmid} is {row['final_decision']!r} in the abstracts, {answer!r} in the test key")
        yield {"pmid": pmid, **row}


def _fields(row: Row) -> dict:
    answer = position(row, "final_decision", ANSWERS)
    return {
        "question": text(row, "QUESTION"),
        "context": "\n".join(texts(row, "CONTEXTS")),
        "options": ANSWERS,
        "candidates": tuple(f" {answer}" for answer in ANSWERS),
        "gold": answer,
        "metadata": {"answer": ANSWERS[answer], **present(row, "YEAR")},
    }


BENCHMARK = Benchmark(
    name="pubmedqa",
    title="PubMedQA",
    task="multiple_choice",
    kind="multiple_choice",
    source=FileSource(
        folder="pubmedqa",
        files=(
            OriginalFile(
                "ori_pqal.json",
                _ADDRESS + "ori_pqal.json",
                "8b3276be8942ebbd77f3ddcda12c1749bf0e490045a736fd8438ee40cf37a41d",
            ),
            OriginalFile(
                "test_ground_truth.json",
                _ADDRESS + "test_ground_truth.json",
                "939fe566f09017d13b1ca64d2ddfee0bc2374b366048152997669cccedc44d51",
            ),
        ),
        read=_read,
        columns=("pmid", "QUESTION", "CONTEXTS", "final_decision"),
        licence="MIT",
    ),
    fields=_fields,
    expected_rows={"*": 500},
    expected_groups={"yes": 276, "no": 169, "maybe": 55},
    groups=("answer",),
    id_column="pmid",
    notes="The abstract is shown without its conclusion.",
    cite="Jin et al. 2019, PubMedQA",
)
