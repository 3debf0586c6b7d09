"""MedDialog Raw: a patient's question and the doctor's first answer."""

from pathlib import Path

from ._read import json_value
from .base import Benchmark, FileSource, OriginalFile, Row, text, texts, where


def _read(paths: list[Path]):
    return json_value(paths[0])


def _answer(row: Row) -> str:
    """The second utterance behind its speaker, as the authors take it."""
    utterances = texts(row, "utterances")
    return utterances[1].strip().partition(":")[2].strip() if len(utterances) > 1 else ""


def _fields(row: Row) -> dict:
    return {
        "question": text(row, "description"),
        "reference": _answer(row),
        "metadata": {"speaker": texts(row, "utterances")[1].strip().partition(":")[0]},
    }


BENCHMARK = Benchmark(
    name="meddialog_raw",
    title="MedDialog Raw",
    task="open_questions",
    kind="open",
    source=FileSource(
        folder="meddialog",
        files=(
            OriginalFile(
                "english-train.json",
                "https://drive.google.com/uc?export=download&id=1ria4E6IdTIPsikL4Glm3uy1tFKJKw0W8",
            ),
        ),
        read=_read,
        columns=("description", "utterances"),
        licence="none stated; the copyright stays with healthcaremagic.com and icliniq.com",
    ),
    fields=_fields,
    filters=(where("has a second utterance", lambda row: bool(_answer(row))),),
    notes="The authors evaluate the train split.",
    cite="Zeng et al. 2020, MedDialog",
)
