"""What went wrong in a run, in a few lines: read from Snakemake's log and the logs of the jobs that failed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"^Error in (?:group )?(?:rule )?(?P<rule>\S+?):\n(?P<fields>(?:    .*\n?)+)", re.M)
FINISHED = re.compile(r"^Finished jobid: (\d+)\b", re.M)
PROGRESS = re.compile(r"^(\d+) of (\d+) steps? \(", re.M)
ANSI = re.compile(r"\x1b\[[0-9;]*m")
# What the scheduler or the machine did to a job, as it stands in a log, and what helps.
CAUSES = (
    (
        re.compile(r"TIMEOUT|DUE TO TIME LIMIT"),
        "met its time limit",
        "give the model more minutes (`runtime`), or just run again",
    ),
    (
        re.compile(r"OUT_OF_MEMORY|[Oo]ut [Oo]f [Mm]emory|oom[-_ ]kill|Exceeded job memory limit|MemoryError"),
        "met its memory limit",
        "give the model more memory (`mem_mb`), or GPUs (`gpus`)",
    ),
    (re.compile(r"CANCELLED|PREEMPTED|SIGTERM"), "was cancelled from outside", "run again"),
    (re.compile(r"NODE_FAIL|BOOT_FAIL"), "lost its node", "run again"),
    (re.compile(r"No space left on device|Disk quota exceeded"), "found the disk full", "free disk space, run again"),
)
OWN_ERROR = re.compile(r"^(?:\S+ \S+ ERROR|Beyond-QA:) (?!Traceback)(.+)$", re.M)
EXCEPTION = re.compile(r"^([A-Za-z_.]*(?:Error|Exception|Interrupt)\b.*)$", re.M)
RESUMES = "Answers that jobs had so far are kept: the same command goes on where they were."


@dataclass(frozen=True)
class Failure:
    """One job that failed in its last attempt."""

    rule: str
    output: str
    reason: str
    remedy: str
    log: str


def failures(snakemake_log: str | Path) -> list[Failure]:
    """The jobs that failed for good, in the order of the log; one that passed a later attempt is none."""
    text = ANSI.sub("", Path(snakemake_log).read_text(encoding="utf-8", errors="replace"))
    finished = {match[1]: match.start() for match in FINISHED.finditer(text)}
    last: dict[str, tuple[str, dict[str, str]]] = {}
    for match in BLOCK.finditer(text):
        fields = dict(_fields(match["fields"]))
        job = fields.get("jobid", "")
        if finished.get(job, -1) < match.start():
            last[fields.get("output", job)] = match["rule"], fields
    return [_failure(rule, fields) for rule, fields in last.values()]


def _fields(block: str) -> Iterator[tuple[str, str]]:
    for line in block.splitlines():
        name, colon, value = line.strip().partition(": ")
        if colon:
            yield name, value.strip()


def _failure(rule: str, fields: dict[str, str]) -> Failure:
    logs = [part.strip() for part in fields.get("log", "").split(" (check log file")[0].split(",") if part.strip()]
    texts = {log: _tail(log) for log in logs}
    reason, remedy = _cause(fields.get("message", ""), list(texts.values()))
    told = next((log for log, text in texts.items() if text.strip()), logs[0] if logs else "")
    return Failure(rule, fields.get("output", ""), reason, remedy, told)


def _tail(path: str) -> str:
    try:
        return ANSI.sub("", Path(path).read_bytes()[-20_000:].decode("utf-8", errors="replace"))
    except OSError:
        return ""


def _cause(message: str, texts: list[str]) -> tuple[str, str]:
    """Why, and what to do: our own sentence first, since it says both; then what was done to the job."""
    for text in texts:
        if sentences := [s for s in OWN_ERROR.findall(text) if not s.startswith("Traceback")]:
            return sentences[-1].strip(), "see the sentence itself, then run again"
    everything = "\n".join([message, *texts])
    for pattern, reason, remedy in CAUSES:
        if pattern.search(everything):
            return reason, remedy
    for text in texts:
        if lines := [line for line in EXCEPTION.findall(text) if not line.startswith(("WorkflowError", "RuleExc"))]:
            return lines[-1].strip(), "read the log, mend the cause, run again"
    return message if message not in ("", "None") else "ended without a word", "read the log, run again"


def summary(snakemake_log: str | Path) -> str:
    """The end of a failed run for its user: what failed, why, where the log is, what to do."""
    failed = failures(snakemake_log)
    text = ANSI.sub("", Path(snakemake_log).read_text(encoding="utf-8", errors="replace"))
    progress = PROGRESS.findall(text)
    done, total = progress[-1] if progress else ("0", "?")
    lines = [f"Beyond-QA: {len(failed)} failed, {done} of {total} jobs finished; what rests on none of these was made."]
    for number, failure in enumerate(failed, start=1):
        lines += [
            f"{number}. {failure.rule}: {failure.output}",
            f"   why:  {failure.reason[:300]}",
            f"   log:  {failure.log or 'none'}",
            f"   do:   {failure.remedy}",
        ]
    return "\n".join([*lines, RESUMES if failed else f"No job failed; the whole log is {snakemake_log}."])
