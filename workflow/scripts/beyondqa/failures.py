"""What went wrong in a run, in a few lines: read from Snakemake's log and the logs of the jobs that failed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# How a process ended stands above the block of its job. A message may have several lines, not all of them indented:
# it goes on to the field that Snakemake always writes next.
ENDED = r"died with <Signals\.SIG(?:KILL|TERM): \d+>|returned non-zero exit status (?:137|143)\b"
BLOCK = re.compile(
    rf"(?:(?P<ended>{ENDED})\.\n\[.+\]\n)?"
    r"^Error in (?:group )?(?:rule )?(?P<rule>\S+?):\n"
    r"(?:    message: (?P<message>.*(?:\n(?!    jobid: |\[[A-Z][a-z]{2} [A-Z][a-z]{2} |Error in ).*)*)(?:\n|\Z))?"
    r"(?P<fields>(?:    .*\n?)*)",
    re.M,
)
FIELD = re.compile(r"^    ([\w-]+): (.*)$", re.M)
# Logs of jobs shown within Snakemake's log: a job on a cluster is itself a Snakemake, with blocks of its own.
SHOWN_LOG = re.compile(r"^Logfile .+:\n(=+)\n(?:.*\n)*?\1$", re.M)
JOBID_OF_OUTPUT = re.compile(r"^    output: (.+)\n(?:    .*\n)*?    jobid: (\d+)$", re.M)
FINISHED = re.compile(r"^Finished jobid: (\d+)\b", re.M)
PROGRESS = re.compile(r"^(\d+) of (\d+) steps? \(", re.M)
TOTAL = re.compile(r"^total +(\d+)$", re.M)
ANSI = re.compile(r"\x1b\[[0-9;]*m")

REFUSED = re.compile(
    r"SLURM sbatch failed\. The error message was '(?P<sbatch>[\s\S]*?)'\.(?:\n    sbatch call:|\Z)"
    r"|[Ss]ubmission failed with exception: (?P<executor>[\s\S]+)"
)
SBATCH_PREFIX = re.compile(r"^(?:sbatch: )?(?:error: )?(?:Batch job submission failed: )?")
# Only what SLURM says of a job counts here: the same words stand in settings and messages of any program.
SLURM_STATUS = re.compile(r"SLURM status is: '(.+?)'")
SLURM_LINE = re.compile(r"^(?:(?:slurmstepd|slurmd|srun)\b|error: \*\*\* (?:JOB|STEP) ).*", re.M)
SLURM_CAUSES = (
    (
        re.compile(r"TIMEOUT|DEADLINE|DUE TO TIME LIMIT"),
        "met its time limit",
        "give the model more minutes (`runtime`), or just run again",
    ),
    (
        re.compile(r"OUT_OF_MEMORY|out of memory|oom[-_ ]kill|exceeded job memory limit", re.I),
        "met its memory limit",
        "give the model more memory (`mem_mb`), or GPUs (`gpus`)",
    ),
    (re.compile(r"NODE_FAIL|BOOT_FAIL|DUE TO NODE FAILURE"), "lost its node", "run again"),
    # A step is also cancelled because one of its tasks failed by itself.
    (re.compile(r"^CANCELLED|PREEMPT|JOB .* CANCELLED"), "was cancelled from outside", "run again"),
)
# Patterns clear enough to be believed anywhere in a log: the cause stands above the exception that ended the job.
LOG_CAUSES = (
    (re.compile(r"(?:^|\s)(?:\w+\.)*\w*MemoryError(?:: |$)", re.M), *SLURM_CAUSES[1][1:]),
    (
        re.compile(r"[\]:] (?:No space left on device|Disk quota exceeded)"),
        "found the disk full",
        "free disk space, run again",
    ),
)
SIGNAL_CAUSES = (
    (
        re.compile(r"SIGKILL|137"),
        "was killed, most often for want of memory",
        "close other programs or use fewer --cores; on a cluster give more memory (`mem_mb`); then run again",
    ),
    (re.compile(r"SIGTERM|143"), "was ended from outside", "run again, it goes on from its journal"),
)
# A sentence of our own, or the last line of a traceback; not those that Snakemake wraps around them.
SAID = re.compile(
    r"^(?:(?:\d{4}-\d\d-\d\d \S+ ERROR|Beyond-QA:) (?!Traceback)(?P<own>.+)"
    r"|(?!WorkflowError|RuleException)(?P<exception>(?:\w+\.)*\w*(?:Error|Exception|Interrupt)(?:: .*)?))$",
    re.M,
)
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
    text = _read(snakemake_log)
    finished = {match[1]: match.start() for match in FINISHED.finditer(text)}
    jobids = dict(JOBID_OF_OUTPUT.findall(text))
    last: dict[str, Failure] = {}
    for match in BLOCK.finditer(text):
        fields = dict(FIELD.findall(match["fields"]))
        output = fields.get("output", "")
        job = fields.get("jobid") or jobids.get(output, "")
        if finished.get(job, -1) < match.start():
            last[output or job or str(match.start())] = _failure(match, fields, str(snakemake_log))
    return list(last.values())


def _read(snakemake_log: str | Path) -> str:
    return SHOWN_LOG.sub("", ANSI.sub("", Path(snakemake_log).read_text(encoding="utf-8", errors="replace")))


def _failure(block: re.Match[str], fields: dict[str, str], snakemake_log: str) -> Failure:
    message = (block["message"] or "").split("For further error details")[0].strip()
    logs = [part.strip() for part in fields.get("log", "").split(" (check log file")[0].split(",") if part.strip()]
    refused = _refused(message)
    # A job that never ran wrote no log: one that is there is an earlier attempt's.
    texts = {} if refused else {log: _tail(log) for log in logs}
    reason, remedy = refused or _cause(message, block["ended"] or "", list(texts.values()))
    told = next((log for log, text in texts.items() if text.strip()), snakemake_log)
    return Failure(block["rule"], fields.get("output", ""), reason, remedy, told)


def _tail(path: str) -> str:
    try:
        return ANSI.sub("", Path(path).read_bytes()[-20_000:].decode("utf-8", errors="replace"))
    except OSError:
        return ""


def _refused(message: str) -> tuple[str, str] | None:
    """What sbatch said of a job that it did not take."""
    if not (match := REFUSED.search(message)):
        return None
    lines = (match["sbatch"] or match["executor"] or "").splitlines()
    said = "; ".join(sentence for line in lines if (sentence := SBATCH_PREFIX.sub("", line.strip())))
    what = "account and partition" if re.search("account|partition", said, re.I) else "what jobs ask for"
    return f"SLURM refused the job: {said}", f"correct {what} in profiles/slurm/config.yaml"


def _cause(message: str, ended: str, texts: list[str]) -> tuple[str, str]:
    """Why, and what to do: what SLURM did to the job, then the job's last word, then the signal that ended it."""
    slurm = SLURM_STATUS.findall(message) + [line for text in texts for line in SLURM_LINE.findall(text)]
    if found := _first(SLURM_CAUSES, slurm):
        return found
    said = [matches[-1] for text in texts if (matches := list(SAID.finditer(text)))]
    if own := next((match["own"] for match in said if match["own"]), None):
        return own.strip(), "see the sentence itself, then run again"
    ends = [ended, *(end for text in texts for end in re.findall(ENDED, text))]
    if found := _first(SIGNAL_CAUSES, ends) or _first(LOG_CAUSES, texts):
        return found
    if said:
        return said[0]["exception"].strip(), "read the log, mend the cause, run again"
    told = " ".join(message.split())
    return told if told not in ("", "None") else "ended without a word", "read the log, run again"


def _first(causes: Iterable[tuple[re.Pattern[str], str, str]], texts: list[str]) -> tuple[str, str] | None:
    return next(((why, do) for text in texts for words, why, do in causes if words.search(text)), None)


def summary(snakemake_log: str | Path) -> str:
    """The end of a failed run for its user: what failed, why, where the log is, what to do."""
    failed = failures(snakemake_log)
    text = _read(snakemake_log)
    # The first line of progress comes with the first job that finished.
    progress = PROGRESS.findall(text) or [("0", total) for total in TOTAL.findall(text)]
    done, total = progress[-1] if progress else ("0", "?")
    lines = [f"Beyond-QA: {len(failed)} failed, {done} of {total} jobs finished; what rests on none of these was made."]
    for number, failure in enumerate(failed, start=1):
        lines += [
            f"{number}. {failure.rule}: {failure.output}",
            f"   why:  {failure.reason[:300]}",
            f"   log:  {failure.log}",
            f"   do:   {failure.remedy}",
        ]
    return "\n".join([*lines, RESUMES if failed else f"No job failed; the whole log is {snakemake_log}."])
