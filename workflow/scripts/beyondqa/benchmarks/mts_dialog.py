"""MTS-Dialog: a section of a clinical note from a short dialogue."""

from .base import Benchmark, HubSource, Row, present, text


def _fields(row: Row) -> dict:
    return {
        "question": text(row, "dialogue"),
        "reference": text(row, "section_text"),
        "metadata": present(row, "section_header", "ID"),
    }


BENCHMARK = Benchmark(
    name="mts_dialog",
    title="MTS-Dialog",
    task="note_taking",
    kind="open",
    source=HubSource(
        repository="har1/MTS_Dialogue-Clinical_Note",
        split="train",
        columns=("section_header", "section_text", "dialogue"),
        licence="CC-BY-4.0",
    ),
    fields=_fields,
    expected_rows={"*": 1301},
    groups=("section_header",),
    notes="The Hub copy's train split holds the original train and validation sets, whose ids repeat.",
    cite="Ben Abacha et al. 2023, An Empirical Study of Clinical Note Generation from Doctor-Patient Encounters",
)
