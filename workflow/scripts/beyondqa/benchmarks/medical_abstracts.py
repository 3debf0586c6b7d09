"""Medical abstracts: the corpus behind the easy text classification, its own test split, openly available."""

from pathlib import Path

from ._medical_topics import topic_fields
from ._read import csv_rows
from .base import Benchmark, FileSource, OriginalFile


def _read(paths: list[Path]):
    return csv_rows(paths[0])


BENCHMARK = Benchmark(
    name="medical_abstracts",
    title="Medical Abstracts",
    task="text_classification",
    kind="multiple_choice",
    source=FileSource(
        folder="medical_abstracts",
        files=(
            OriginalFile(
                "medical_tc_test.csv",
                "https://raw.githubusercontent.com/sebischair/Medical-Abstracts-TC-Corpus/"
                "70a2d9106c724729be8b3c4ddb00d1b14ec300c8/medical_tc_test.csv",
                "1eecea73c9ecad292c55e10403bd139fab9580545d6878482997c5564d51ac05",
            ),
        ),
        read=_read,
        columns=("condition_label", "medical_abstract"),
        licence="CC-BY-SA-3.0",
    ),
    fields=lambda row: topic_fields(row, "medical_abstract", "condition_label"),
    expected_rows={"*": 2888},
    groups=("topic",),
    prompt="medical_topics",
    cite="Schopf, Braun and Matthes 2022, Evaluating Unsupervised Text Classification",
)
