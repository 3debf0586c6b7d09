"""MedText: patient records with diagnosis and treatment."""

from .base import Benchmark, HubSource, Row, text


def _fields(row: Row) -> dict:
    return {"question": text(row, "Prompt"), "reference": text(row, "Completion")}


BENCHMARK = Benchmark(
    name="medtext",
    title="MedText",
    task="diagnosis_treatment",
    kind="open",
    source=HubSource(repository="BI55/MedText", split="train", columns=("Prompt", "Completion"), licence="CC-BY-4.0"),
    fields=_fields,
    notes="The only split is called train.",
    cite="BI55/MedText on the Hugging Face Hub",
)
