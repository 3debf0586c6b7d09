"""The summary at the end of a failed run, on a real run of Snakemake and on what SLURM writes."""

import subprocess
import sys

import pytest

from beyondqa.failures import failures, summary

SNAKEFILE = """
import sys
sys.path.insert(0, "{root}/workflow/scripts")
include: "{root}/rules/failures.smk"
rule all:
    input: "broken.txt", "crashed.txt", "fine.txt", "waiting.txt", "second.txt"
rule broken:
    output: "broken.txt"
    log: "logs/broken.log"
    script: "broken.py"
rule crashed:
    output: "crashed.txt"
    log: "logs/crashed.log"
    script: "crashed.py"
rule fine:
    output: "fine.txt"
    shell: "touch {{output}}"
rule waiting:
    input: "broken.txt"
    output: "waiting.txt"
    shell: "touch {{output}}"
rule second_attempt:
    output: "second.txt"
    log: "logs/second.log"
    retries: 1
    shell: "if [ -e seen ]; then touch {{output}}; else touch seen; exit 1; fi"
"""
SCRIPT = """
import sys
sys.path.insert(0, "{root}/workflow/scripts")
from beyondqa.errors import StudyError
from beyondqa.logs import to_file
with to_file(snakemake.log[0]):
    {body}
"""
SLURM = """
[Mon Nov 30 03:51:22 2026]
Error in rule infer_vllm:
    message: SLURM-job '13' failed, SLURM status is: '{status}'. Detailed failure reason unavailable (status command \
is not 'sacct').For further error details see the cluster/cloud log and the log files of the involved rule(s).
    jobid: 3
    output: results/inference/greedy/m/all/1-of-1.jsonl
    log: results/logs/inference/m.log, {slurm} (check log file(s) for error details)
    external_jobid: 13
"""


def test_a_run_that_fails_ends_with_a_summary_and_makes_what_it_can(root, tmp_path):
    broken = 'raise StudyError("has no text", file="x.jsonl", record="i7", remedy="Give it one")'
    (tmp_path / "Snakefile").write_text(SNAKEFILE.format(root=root))
    (tmp_path / "broken.py").write_text(SCRIPT.format(root=root, body=broken))
    (tmp_path / "crashed.py").write_text(SCRIPT.format(root=root, body='{}["nothing"]'))
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--keep-going"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    told = done.stderr[done.stderr.index("Beyond-QA: 2 failed, 2 of 6") :]
    assert "broken: broken.txt\n   why:  file x.jsonl, record i7: has no text. Give it one\n" in told
    assert "crashed: crashed.txt\n   why:  KeyError: 'nothing'\n   log:  logs/crashed.log\n" in told
    assert "second" not in told
    assert "waiting" not in told
    assert (tmp_path / "fine.txt").exists()
    assert (tmp_path / "second.txt").exists()


@pytest.mark.parametrize(
    ("status", "slurm", "reason"),
    [
        ("TIMEOUT", "", "met its time limit"),
        ("FAILED", "slurmstepd: error: *** JOB 13 ON n CANCELLED AT 1 DUE TO TIME LIMIT ***", "met its time limit"),
        ("OUT_OF_MEMORY", "", "met its memory limit"),
        ("FAILED", "slurmstepd: error: Exceeded job memory limit", "met its memory limit"),
        ("FAILED", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate", "met its memory limit"),
        ("CANCELLED", "", "was cancelled from outside"),
        ("NODE_FAIL", "", "lost its node"),
        ("FAILED", "OSError: [Errno 28] No space left on device", "found the disk full"),
        ("FAILED", "ValueError: a bad thing", "ValueError: a bad thing"),
        ("FAILED", "2026-11-30 03:51:22,123 ERROR file x: is broken. Mend it", "file x: is broken. Mend it"),
    ],
)
def test_what_slurm_did_to_a_job_is_told_in_words(tmp_path, status, slurm, reason):
    log, slurm_log = tmp_path / "snakemake.log", tmp_path / "13.log"
    slurm_log.write_text(slurm)
    log.write_text(SLURM.format(status=status, slurm=slurm_log))
    (failure,) = failures(log)
    assert failure.reason == reason
    assert failure.rule == "infer_vllm"
    assert failure.output == "results/inference/greedy/m/all/1-of-1.jsonl"
    assert failure.remedy


def test_a_job_that_passes_a_later_attempt_is_no_failure(tmp_path):
    log = tmp_path / "snakemake.log"
    log.write_text(SLURM.format(status="TIMEOUT", slurm="x") + "\nFinished jobid: 3 (Rule: infer_vllm)\n")
    assert failures(log) == []
    assert "0 failed" in summary(log)


def test_attempts_of_one_job_are_one_failure_and_its_last_reason_counts(tmp_path):
    log = tmp_path / "snakemake.log"
    blocks = [SLURM.format(status=status, slurm="absent") for status in ("TIMEOUT", "TIMEOUT", "OUT_OF_MEMORY")]
    log.write_text("\nTrying to restart job 3.\n".join(blocks))
    (failure,) = failures(log)
    assert failure.reason == "met its memory limit"
