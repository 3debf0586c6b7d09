"""MedMCQA: Indian medical entrance examinations, the validation split as the harness uses it."""

from .base import Benchmark, HubSource, Row, present, text, whole_number


def _fields(row: Row) -> dict:
    return {
        "question": text(row, "question"),
        "options": tuple(text(row, f"op{letter}") for letter in "abcd"),
        "gold": whole_number(row, "cop"),
        "metadata": present(row, "subject_name", "topic_name", "choice_type"),
    }


BENCHMARK = Benchmark(
    name="medmcqa",
    title="MedMCQA",
    task="multiple_choice",
    kind="multiple_choice",
    source=HubSource(
        repository="openlifescienceai/medmcqa",
        split="validation",
        columns=("id", "question", "opa", "opb", "opc", "opd", "cop"),
        licence="MIT",
    ),
    fields=_fields,
    expected_rows={"*": 4183},
    id_column="id",
    notes="`cop` counts from 0.",
    cite="Pal, Umapathi and Sankarasubbu 2022, MedMCQA",
)
