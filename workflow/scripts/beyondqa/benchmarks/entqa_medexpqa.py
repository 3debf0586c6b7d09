"""EntQA on MedExpQA: Spanish residency examination cases in English, up to five options, test split."""

from pathlib import Path

from ..records import read_jsonl
from ._entqa import benchmark, index_of, options_by_label
from .base import FileSource, OriginalFile, Row, present, text

LABELS = "12345"


def _read(paths: list[Path]):
    return read_jsonl(paths[0])


def fields(row: Row) -> dict:
    return {
        "question": text(row, "full_question"),
        "options": options_by_label(row["options"], LABELS),
        "gold": index_of(row["correct_option"], LABELS),
        "metadata": present(row, "type", "year"),
    }


BENCHMARK = benchmark(
    name="entqa_medexpqa",
    title="MedExpQA (EntQA)",
    source=FileSource(
        folder="medexpqa",
        files=(
            OriginalFile(
                "english_medexpqa.jsonl",
                "https://raw.githubusercontent.com/vkola-lab/pdig2026/6f0e4d8cc95d750977ffd6e079a33fae79f3f5c6/"
                "Benchmark/english_medexpqa/english_medexpqa.jsonl",
            ),
        ),
        read=_read,
        columns=("id", "full_question", "options", "correct_option"),
        licence="CC-BY-4.0",
    ),
    fields=fields,
    expected_rows={"*": 125},
    groups=("type", "year"),
    id_column="id",
    notes="A missing fifth option is left out; EntQA's authors show it as the option 'None'.",
    cite="Alonso, Oronoz and Agerri 2024, MedExpQA; EntQA, medRxiv 2025.11.12.25340106",
)
