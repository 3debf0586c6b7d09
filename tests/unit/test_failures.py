"""The summary at the end of a failed run, on a real run of Snakemake and on what SLURM writes."""

import os
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
KILLS = """
include: "{root}/rules/failures.smk"
rule all:
    input: "killed.txt", "ended.txt", "child.txt"
rule killed:
    output: "killed.txt"
    log: "logs/killed.log"
    shell: "echo one > {{log}}; kill -9 $$"
rule ended:
    output: "ended.txt"
    shell: "kill -15 $$"
rule child:
    output: "child.txt"
    shell: "sh -c 'kill -9 $$'; true"
"""
# As snakemake-executor-plugin-slurm's run_job writes it ("SLURM sbatch failed. The error message was ..."), recorded
# from a run of the executor with an sbatch that fails; what --wrap holds is shortened.
REFUSED = """
[Mon Nov 30 12:47:02 2026]
Error in rule {rule}:
    message: SLURM sbatch failed. The error message was '{said}'.
    sbatch call:
        sbatch --parsable --job-name 4ba22846 --comment rule_a  -A x  -p cpu -t 3 --wrap="python -m snakemake: {rule}"
For further error details see the cluster/cloud log and the log files of the involved rule(s).
    jobid: {job}
    output: {rule}.txt
    log: {log} (check log file(s) for error details)
    shell:
        touch {rule}.txt
        (command exited with non-zero exit code)
Logfile {log} not found.
Trying to restart job {job}.
"""
KILLED = "was killed, most often for want of memory"
ACCOUNT = "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified"
PARTITION = """sbatch: error: invalid partition specified: nope
sbatch: error: Batch job submission failed: Invalid partition name specified"""
NODES = "sbatch: error: Batch job submission failed: Requested node configuration is not available"
# Within the log of a job on a cluster stands the log of the Snakemake that ran there.
JOBSTEP = """RuleException:
CalledProcessError in file "/x/rules/infer.smk", line 20:
Command 'set -euo pipefail;  python infer.py' {ended}.
[Mon Nov 30 03:51:20 2026]
Error in rule infer_vllm:
    message: None
    jobid: 0
    output: results/inference/greedy/m/all/1-of-1.jsonl
"""
HEADS = """VLLM_ENGINE_ITERATION_TIMEOUT_S: 60
on SIGTERM: CANCELLED or PREEMPTED, NODE_FAIL, no oom-kill
ValueError: Total number of attention heads (14) must be divisible by tensor parallel size (4).
"""
ROOT_CAUSE = """(EngineCore_0 pid=5) ERROR 11-30 03:51:22 [core.py:700] torch.OutOfMemoryError: CUDA out of memory.
RuntimeError: Engine core initialization failed. See root cause above.
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
        ("FAILED", "slurmstepd: error: Detected 1 oom_kill event in StepId=13.batch.", "met its memory limit"),
        ("FAILED", ROOT_CAUSE, "met its memory limit"),
        ("FAILED", HEADS, HEADS.splitlines()[-1]),
        ("TIMEOUT", HEADS, "met its time limit"),
        ("FAILED", HEADS + JOBSTEP.format(ended="returned non-zero exit status 1"), HEADS.splitlines()[-1]),
        ("FAILED", JOBSTEP.format(ended="died with <Signals.SIGKILL: 9>"), KILLED),
        ("FAILED", "slurmstepd: error: *** STEP 13.0 ON n CANCELLED AT 1 ***\n" + HEADS, HEADS.splitlines()[-1]),
        ("FAILED", "slurmstepd: error: *** JOB 13 ON n CANCELLED AT 1 DUE TO NODE FAILURE ***", "lost its node"),
        ("FAILED", "slurmstepd: error: *** JOB 13 ON n CANCELLED AT 1 ***", "was cancelled from outside"),
        ("FAILED", "2026-11-30 03:51:22,123 ERROR not the end\nKeyError: 'x'", "KeyError: 'x'"),
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


@pytest.mark.parametrize(
    ("said", "reason", "remedy"),
    [
        (ACCOUNT, "Invalid account or account/partition combination specified", "account and partition"),
        (PARTITION, "invalid partition specified: nope; Invalid partition name specified", "account and partition"),
        (NODES, "Requested node configuration is not available", "what jobs ask for"),
    ],
)
def test_every_job_that_slurm_refused_is_listed_once_with_the_sentence_of_sbatch(tmp_path, said, reason, remedy):
    log, stale = tmp_path / "snakemake.log", tmp_path / "stale.log"
    stale.write_text("KeyError: 'of an earlier run'")
    block = {rule: REFUSED.format(rule=rule, job=job, said=said, log=stale) for rule, job in (("a", 1), ("b", 2))}
    log.write_text("Job stats:\njob      count\ntotal        3\n" + (block["a"] + block["b"]) * 2)
    told = failures(log)
    assert [(failure.rule, failure.output) for failure in told] == [("a", "a.txt"), ("b", "b.txt")]
    for failure in told:
        assert failure.reason == f"SLURM refused the job: {reason}"
        assert failure.remedy == f"correct {remedy} in profiles/slurm/config.yaml"
        assert failure.log == str(log)
    assert "2 failed, 0 of 3 jobs finished" in summary(log)


def test_a_job_that_slurm_takes_in_a_later_attempt_is_no_failure(tmp_path):
    log = tmp_path / "snakemake.log"
    blocks = [REFUSED.format(rule=rule, job=job, said=ACCOUNT, log="x") for rule, job in (("b", 2), ("a", 1))]
    info = "[Mon Nov 30 12:47:01 2026]\nrule a:\n    output: a.txt\n    log: x\n    jobid: 1\n"
    log.write_text(info + "".join(blocks) + "Finished jobid: 1 (Rule: a)\n")
    assert [failure.rule for failure in failures(log)] == ["b"]
    log.write_text(log.read_text().replace("    jobid: 1\n    output", "    jobid: \n    output"))
    assert [failure.rule for failure in failures(log)] == ["b"]


def test_a_block_within_the_shown_log_of_a_job_is_not_another_failure(tmp_path):
    log = tmp_path / "snakemake.log"
    shown = JOBSTEP.format(ended="returned non-zero exit status 1")
    log.write_text(SLURM.format(status="TIMEOUT", slurm="x") + f"Logfile x:\n{'=' * 70}\n{shown}{'=' * 70}\n")
    (failure,) = failures(log)
    assert failure.reason == "met its time limit"


def test_jobs_that_a_signal_ended_are_told_as_such(root, tmp_path):
    (tmp_path / "Snakefile").write_text(KILLS.format(root=root))
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--keep-going", "--show-failed-logs"]
    environment = {**os.environ, "PYTHONPATH": str(root / "workflow/scripts")}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 1
    assert "Beyond-QA: 3 failed, 0 of 4 jobs finished" in done.stderr
    (log,) = (tmp_path / ".snakemake/log").iterdir()
    told = {failure.rule: failure for failure in failures(log)}
    assert {rule: failure.reason for rule, failure in told.items()} == {
        "killed": KILLED,
        "child": KILLED,
        "ended": "was ended from outside",
    }
    assert "--cores" in told["killed"].remedy
    assert told["ended"].remedy == "run again, it goes on from its journal"
    assert f"killed: killed.txt\n   why:  {KILLED}\n   log:  logs/killed.log\n" in done.stderr
