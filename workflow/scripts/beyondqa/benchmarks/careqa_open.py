"""CareQA-Open: CareQA items rephrased as open questions, the released set."""

from .base import Benchmark, HubSource, Row, present, text


def fields(row: Row) -> dict:
    return {
        "question": text(row, "question"),
        "reference": text(row, "answer"),
        "metadata": present(row, "category", "year", "exam_id", "unique_id"),
    }


BENCHMARK = Benchmark(
    name="careqa_open",
    title="CareQA-Open",
    task="open_questions",
    kind="open",
    source=HubSource(
        repository="HPAI-BSC/CareQA",
        split="test",
        columns=("question", "answer"),
        licence="Apache-2.0",
        configs=("CareQA_en_open",),
    ),
    fields=fields,
    expected_rows={"*": 2769},
    groups=("category", "year"),
    id_column="unique_id",
    cite="Arias-Duart et al. 2025, Automatic Evaluation of Healthcare LLMs Beyond Question-Answering",
)
