"""OLAPH (MedLFQA): long answers with must-have and nice-to-have statements, the authors' tenth."""

from .base import Benchmark, Filter, HubSource, Row, first_tenth, text, texts, where

HAS_ANSWER = where("has an answer", lambda row: bool((row["Free_form_answer"] or "").strip()))


def _fields(row: Row) -> dict:
    return {
        "question": text(row, "Question"),
        "reference": text(row, "Free_form_answer"),
        "must_have": texts(row, "Must_have"),
        "nice_to_have": texts(row, "Nice_to_have"),
    }


BENCHMARK = Benchmark(
    name="olaph",
    title="OLAPH",
    task="factuality",
    kind="open",
    source=HubSource(
        repository="dmis-lab/MedLFQA",
        split="test",
        columns=("Question", "Free_form_answer", "Must_have", "Nice_to_have"),
        licence="CC-BY-4.0",
    ),
    fields=_fields,
    expected_rows={"*": 4948},
    filters=(Filter("first tenth", first_tenth, of_source=True), HAS_ANSWER),
    notes="The authors' code takes the first tenth, 494 of 4,948 rows, all of HealthSearchQA.",
    cite="Jeong et al. 2024, OLAPH",
)
