"""MedQA: USMLE questions with four options, the test split."""

from .base import Benchmark, HubSource, Row, text, whole_number


def fields(row: Row) -> dict:
    return {
        "question": text(row, "sent1"),
        "options": tuple(text(row, f"ending{index}") for index in range(4)),
        "gold": whole_number(row, "label"),
    }


SOURCE = HubSource(
    repository="GBaker/MedQA-USMLE-4-options-hf",
    split="test",
    columns=("id", "sent1", "ending0", "ending1", "ending2", "ending3", "label"),
    licence="MIT",
)

BENCHMARK = Benchmark(
    name="medqa",
    title="MedQA",
    task="multiple_choice",
    kind="multiple_choice",
    source=SOURCE,
    fields=fields,
    expected_rows={"*": 1273},
    id_column="id",
    cite="Jin et al. 2021, What Disease does this Patient Have?",
)
