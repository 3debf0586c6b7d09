"""MEDIQA 2019: the reference is the answer listed first, as in the authors' task."""

from ._mediqa2019 import SOURCE
from .base import Benchmark, Row, present, text


def fields(row: Row, answer: dict) -> dict:
    """An item whose reference is one of the row's answers."""
    return {
        "question": text(row, "QuestionText"),
        "reference": text(answer, "AnswerText"),
        "metadata": present(answer, "AID", "SystemRank", "ReferenceRank", "ReferenceScore"),
    }


BENCHMARK = Benchmark(
    name="mediqa2019",
    title="MEDIQA2019",
    task="open_questions",
    kind="open",
    source=SOURCE,
    fields=lambda row: fields(row, row["AnswerList"][0]),
    expected_rows={"*": 150},
    id_column="QID",
    notes="The first listed answer is the first of the retrieval system, not the best by reference rank "
    "(mediqa2019_best).",
    cite="Ben Abacha, Shivade and Demner-Fushman 2019, MEDIQA 2019",
)
