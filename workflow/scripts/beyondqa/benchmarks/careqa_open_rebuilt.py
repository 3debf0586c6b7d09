"""CareQA-Open as this study rebuilds it from CareQA, in the released set's columns."""

from ._read import table_rows
from .base import Benchmark, CredentialedSource, Row, present, text


def _fields(row: Row) -> dict:
    return {
        "question": text(row, "question"),
        "reference": text(row, "answer"),
        "metadata": {"closed_id": text(row, "id"), **present(row, "category", "year", "exam_id")},
    }


BENCHMARK = Benchmark(
    name="careqa_open_rebuilt",
    title="CareQA-Open (rebuilt)",
    task="open_questions",
    kind="open",
    source=CredentialedSource(
        read=table_rows,
        columns=("id", "question", "answer"),
        licence="Apache-2.0 (CareQA)",
        access="the file that `snakemake careqa_open_assemble` makes, named by `path`",
    ),
    fields=_fields,
    groups=("category", "year"),
    id_column="id",
    prompt="careqa_open",
    notes="Its prompts and its rephraser's answers are this study's own; the released set is `careqa_open`.",
    cite="Arias-Duart et al. 2025, Automatic Evaluation of Healthcare LLMs Beyond Question-Answering",
)
