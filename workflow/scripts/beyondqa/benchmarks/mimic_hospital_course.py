"""MIMIC-III hospital course: the impression of a radiology report from its findings."""

import re

from ._read import table_rows
from .base import Benchmark, CredentialedSource, Row, text, where

GAP = " " * 5  # parts of a note end at a run of five spaces
SHORTEST = 5  # characters; shorter parts are none


def parts(note: str) -> tuple[str, str]:
    """Findings and impression of a note, "" for a part that is missing or too short.

    The note is cut at the first mention of either word, in any case. Findings that no heading names are
    what stands before the impression.
    """
    impression, findings = (re.search(word, note, re.IGNORECASE) for word in ("IMPRESSION", "FINDING"))
    if impression is None:
        return "", ""
    if findings is None:
        found, concluded = note[: impression.start()], note[impression.start() :].split(GAP)[0]
    elif impression.start() < findings.start():
        found = note[findings.start() :].split(GAP)[0]
        concluded = note[impression.start() : findings.start()].split(GAP)[0]
    else:
        found = note[findings.start() : impression.start()].split(GAP)[0]
        concluded = note[impression.start() :].split(GAP)[0]
    return tuple(part if len(part) >= SHORTEST else "" for part in (found.strip(), concluded.strip()))


def _fields(row: Row) -> dict:
    findings, impression = parts(text(row, "extractive_notes_summ"))
    return {"question": findings, "reference": impression}


BENCHMARK = Benchmark(
    name="mimic_hospital_course",
    title="MIMIC-III hospital course",
    task="summarization",
    kind="open",
    source=CredentialedSource(
        read=table_rows,
        columns=("extractive_notes_summ",),
        licence="PhysioNet Credentialed Health Data License",
        access="credentialed access (PhysioNet)",
    ),
    fields=_fields,
    filters=(where("has findings and an impression", lambda row: all(parts(row["extractive_notes_summ"] or ""))),),
    notes="Never fetched: `path` names the test split as CSV, JSONL or Parquet.",
    cite="lm-evaluation-harness, mimic_repsum",
)
