"""EntQA on MedQA: the same questions, answered with an explanation."""

from ._entqa import benchmark
from .medqa import SOURCE, fields

BENCHMARK = benchmark(
    name="entqa_medqa",
    title="MedQA (EntQA)",
    source=SOURCE,
    fields=fields,
    expected_rows={"*": 1273},
    id_column="id",
    rows="medqa",
    cite="EntQA, medRxiv 2025.11.12.25340106",
)
