"""MedDialog Qsumm: the question in a patient's message, in one sentence."""

from .base import Benchmark, HubSource, Row, text


def _fields(row: Row) -> dict:
    return {"question": text(row, "src"), "reference": text(row, "tgt")}


BENCHMARK = Benchmark(
    name="meddialog_qsumm",
    title="MedDialog Qsumm",
    task="question_entailment",
    kind="open",
    source=HubSource(
        repository="lighteval/med_dialog",
        split="test",
        columns=("src", "tgt"),
        licence="none stated; the copyright stays with icliniq.com",
        configs=("icliniq",),
    ),
    fields=_fields,
    expected_rows={"*": 3108},
    cite="Zeng et al. 2020, MedDialog",
)
