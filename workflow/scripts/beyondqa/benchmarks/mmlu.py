"""MMLU: the six medical subjects; its accuracy is the plain mean over the subjects."""

from .base import Benchmark, HubSource, Row, text, texts, whole_number

SUBJECTS = {
    "anatomy": 135,
    "clinical_knowledge": 265,
    "college_biology": 144,
    "college_medicine": 173,
    "medical_genetics": 100,
    "professional_medicine": 272,
}


def _fields(row: Row) -> dict:
    subject = text(row, "subject")
    return {
        "question": text(row, "question").strip(),
        "options": texts(row, "choices"),
        "gold": whole_number(row, "answer"),
        "metadata": {"subject": subject, "subject_title": subject.replace("_", " ")},
    }


BENCHMARK = Benchmark(
    name="mmlu",
    title="MMLU medical",
    task="multiple_choice",
    kind="multiple_choice",
    source=HubSource(
        repository="cais/mmlu",
        split="test",
        columns=("question", "subject", "choices", "answer"),
        licence="MIT",
        configs=tuple(SUBJECTS),
    ),
    fields=_fields,
    expected_rows={"*": sum(SUBJECTS.values())},
    expected_groups=SUBJECTS,
    groups=("subject",),
    macro_over="subject",
    cite="Hendrycks et al. 2021, Measuring Massive Multitask Language Understanding",
)
