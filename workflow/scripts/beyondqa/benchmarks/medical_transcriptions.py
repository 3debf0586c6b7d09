"""Medical transcriptions, hard: the specialty of a transcribed report, among forty."""

from pathlib import Path

from ._read import csv_rows
from ._specialties import SPECIALTIES
from .base import Benchmark, FileSource, OriginalFile, Row, position, text, where


def _read(paths: list[Path]):
    return csv_rows(paths[0])


def _fields(row: Row) -> dict:
    gold = position(row, "medical_specialty", SPECIALTIES)
    return {
        "question": "Which medical specialty is the text about?",
        "context": text(row, "transcription"),
        "options": SPECIALTIES,
        "candidates": tuple(f" {specialty}" for specialty in SPECIALTIES),
        "gold": gold,
        "metadata": {"specialty": SPECIALTIES[gold]},
    }


BENCHMARK = Benchmark(
    name="medical_transcriptions",
    title="Medical Transcriptions (hard)",
    task="text_classification",
    kind="multiple_choice",
    source=FileSource(
        folder="medical_transcriptions",
        files=(
            OriginalFile(
                "mtsamples.csv",
                "https://raw.githubusercontent.com/annaghiotto/Medical-Specialty-Classifier/"
                "f4e2f42fa25a20cea537af36cf82f5db6f997ce3/data/mtsamples.csv",
            ),
        ),
        read=_read,
        columns=("medical_specialty", "transcription"),
        licence="CC0-1.0 as declared for the Kaggle copy (tboyle10/medicaltranscriptions)",
    ),
    fields=_fields,
    filters=(where("has a transcription", lambda row: bool((row["transcription"] or "").strip())),),
    groups=("specialty",),
    notes="The file's labels carry a leading space; here it is the space between prompt and candidate.",
    cite="lm-evaluation-harness, med_text_classification",
)
