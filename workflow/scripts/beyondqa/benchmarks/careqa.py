"""CareQA: Spanish specialised-training examinations (2020 to 2024) in English, four options."""

from .base import Benchmark, HubSource, Row, present, text, whole_number

# Items by category and year, of the release's 5,621.
COUNTS = {
    "Biology": (177, 176, 199, 207, 207),
    "Chemistry": (171, 177, 200, 195, 201),
    "Medicine": (155, 158, 182, 182, 180),
    "Nursing": (177, 172, 194, 192, 188),
    "Pharmacology": (179, 181, 206, 208, 195),
    "Psychology": (178, 173, 201, 204, 206),
}
GRID = {
    f"{category} / {year}": count
    for category, counts in COUNTS.items()
    for year, count in enumerate(counts, start=2020)
}
COLUMNS = ("exam_id", "question", "op1", "op2", "op3", "op4", "cop", "year", "category", "unique_id")


def fields(row: Row) -> dict:
    return {
        "question": text(row, "question"),
        "options": tuple(text(row, f"op{number}") for number in range(1, 5)),
        "gold": whole_number(row, "cop") - 1,
        "metadata": {
            "category": text(row, "category"),
            "year": whole_number(row, "year"),
            **present(row, "exam_id", "unique_id"),
        },
    }


BENCHMARK = Benchmark(
    name="careqa",
    title="CareQA",
    task="multiple_choice",
    kind="multiple_choice",
    source=HubSource(
        repository="HPAI-BSC/CareQA",
        split="test",
        columns=COLUMNS,
        licence="Apache-2.0",
        configs=("CareQA_en",),
    ),
    fields=fields,
    expected_rows={"*": sum(GRID.values())},
    expected_groups=GRID,
    groups=("category", "year"),
    id_column="unique_id",
    notes="`cop` counts from 1.",
    cite="Arias-Duart et al. 2025, Automatic Evaluation of Healthcare LLMs Beyond Question-Answering",
)
