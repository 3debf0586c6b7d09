"""What a cluster does to jobs, on a toy that uses the study's own runner, journals and profile."""

import json
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from runs import ROOT, TOY, Run, journal_keys, slurm_jobs, wait_until

pytestmark = pytest.mark.slurm
RESUME = (ROOT / "workflow" / "scripts" / "resume.py",)
REQUESTS = 40


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """Bytes of the answers of a run without SLURM and without faults, by file name."""
    folder = tmp_path_factory.mktemp("undisturbed")
    targets = [f"answers/{n}.jsonl" for n in range(1, 5)]
    run = Run(folder, [*TOY, "--cores", "2", "--config", "pause=0", "--", *targets])
    assert run.finish(120) == 0, run.text
    return {name: (folder / name).read_bytes() for name in targets}


def check(folder, undisturbed, numbers):
    """Nothing lost, nothing doubled, never two writers, the same bytes."""
    for n in numbers:
        assert (folder / f"answers/{n}.jsonl").read_bytes() == undisturbed[f"answers/{n}.jsonl"]
        keys = journal_keys(folder, str(n))
        assert len(keys) == len(set(keys)) == REQUESTS
    assert not list(folder.glob("journals/*.two-writers"))


def batches(folder, n=1):
    path = folder / f"journals/{n}/own.jsonl"
    return path.read_text().count("\n") if path.exists() else 0


def test_two_gpus_serve_three_jobs_one_after_the_other(start, tmp_path):
    run = start("gpu/1.json", "gpu/2.json", "gpu/3.json")
    wait_until(lambda: len(slurm_jobs(tmp_path, rule="use_gpu")) == 3, what="three jobs")
    assert run.finish() == 0, run.text
    seen = sorted((json.loads(path.read_text()) for path in tmp_path.glob("gpu/*.json")), key=lambda s: s["start"])
    first, second, third = seen
    assert {first["gpu"], second["gpu"]} == {"0", "1"}
    assert third["start"] >= min(first["end"], second["end"])
    assert third["gpu"] in ("0", "1")


def test_a_job_without_gpus_is_given_none_and_has_a_readable_comment(start, tmp_path):
    run = start("answers/1.jsonl", "--config", "pause=0.2")
    (job,) = wait_until(lambda: slurm_jobs(tmp_path, rule="answer"), what="the job")
    shown = subprocess.check_output(["scontrol", "show", "job", job], text=True)
    listed = subprocess.check_output(["squeue", "--noheader", "--jobs", job, "--format=%j|%k|%m|%l|%D"], text=True)
    name, comment, memory, limit, nodes = listed.strip().split("|")
    assert "gres" not in shown.lower()
    assert name.startswith("beyondqa_")
    assert comment == "rule_answer_wildcards_1"
    assert (memory, limit, nodes) == ("600M", "10:00", "1")
    assert run.finish() == 0, run.text


@pytest.mark.full
def test_time_limit_is_met_once_and_the_second_attempt_has_more(start, tmp_path):
    run = start("limits/time.txt")
    assert run.finish(900) == 0, run.text
    assert (tmp_path / "limits/time.txt").read_text() == "done\n"
    assert "TIMEOUT" in run.text
    assert len((tmp_path / "limits.attempts").read_text().splitlines()) == 2


@pytest.mark.full
def test_memory_limit_is_met_once_and_the_second_attempt_has_more(start, tmp_path):
    run = start("limits/memory.txt")
    assert run.finish() == 0, run.text
    assert (tmp_path / "limits/memory.txt").read_text() == "900\n"
    first, second = [line.split()[1] for line in (tmp_path / "limits.attempts").read_text().splitlines()]
    states = {job: _state(job) for job in (first, second)}
    assert states == {first: ("FAILED", "600M"), second: ("COMPLETED", "1800M")}


def _state(job):
    command = ["squeue", "--noheader", "--states=all", "--jobs", job, "--format=%T|%m"]
    return tuple(subprocess.check_output(command, text=True).strip().split("|"))


def test_a_job_cancelled_from_outside_goes_on_where_it_was(start, tmp_path, undisturbed):
    run = start("answers/1.jsonl", "--config", "pause=1")
    wait_until(lambda: batches(tmp_path) >= 3, what="three batches")
    (job,) = slurm_jobs(tmp_path, states="RUNNING")
    subprocess.run(["scancel", job], check=True)
    assert run.finish() == 0, run.text
    assert "CANCELLED" in run.text
    check(tmp_path, undisturbed, [1])


def test_sigterm_with_a_grace_period_flushes_the_journal_and_the_next_attempt_goes_on(start, tmp_path, undisturbed):
    run = start("answers/1.jsonl", "--config", "pause=1")
    wait_until(lambda: batches(tmp_path) >= 3, what="three batches")
    (job,) = slurm_jobs(tmp_path, states="RUNNING")
    subprocess.run(["scancel", "--signal=TERM", job], check=True)
    wait_until(lambda: not slurm_jobs(tmp_path, states="RUNNING"), timeout=30, what="the job's own end")
    kept = batches(tmp_path)
    assert 3 <= kept < REQUESTS / 4
    assert "SIGTERM" in Path(tmp_path / "logs/answers/1.log").read_text()
    assert run.finish() == 0, run.text
    assert f"{REQUESTS - 4 * kept} to ask" in Path(tmp_path / "logs/answers/1.log").read_text()
    check(tmp_path, undisturbed, [1])


@pytest.mark.full
def test_a_job_that_slurm_requeues_goes_on_where_it_was(start, tmp_path, undisturbed):
    run = start("answers/1.jsonl", "--config", "pause=1")
    wait_until(lambda: batches(tmp_path) >= 3, what="three batches")
    (job,) = slurm_jobs(tmp_path, states="RUNNING")
    subprocess.run(["scontrol", "requeue", job], check=True)
    assert run.finish() == 0, run.text
    check(tmp_path, undisturbed, [1])


@pytest.mark.full
def test_preempted_jobs_go_on_where_they_were(start, tmp_path, undisturbed):
    """Whether SLURM starts a job again, takes it away for good, or lets it end itself."""
    partitions = ["requeued", "cancelled", "graceful"]
    named = ", ".join(f"p{n}: {partition}" for n, partition in enumerate(partitions, start=1))
    targets = [f"answers/{n}.jsonl" for n in (1, 2, 3)]
    run = start(*targets, "--config", "pause=2", f"partitions={{{named}}}")
    wait_until(lambda: all(batches(tmp_path, n) >= 3 for n in (1, 2, 3)), what="three batches of every job")
    jobs = [slurm_jobs(tmp_path, states="RUNNING", rule=f"answer_wildcards_{n}")[0] for n in (1, 2, 3)]
    whole_node = ["--partition=cpu", "--cpus-per-task=8", "--time=1", "--chdir=/tmp", "--output=/dev/null"]
    subprocess.run(["sbatch", "--wait", *whole_node, "--wrap=sleep 3"], check=True, timeout=120, capture_output=True)
    assert [_state(job)[0] for job in jobs] == ["PENDING", "PREEMPTED", "FAILED"]
    assert run.finish() == 0, run.text
    check(tmp_path, undisturbed, [1, 2, 3])


@pytest.mark.full
def test_a_controller_that_is_away_for_a_minute_costs_nothing(start, cluster, tmp_path, undisturbed):
    run = start("answers/1.jsonl", "answers/2.jsonl", "--config", "pause=6")
    wait_until(lambda: batches(tmp_path, 1) and batches(tmp_path, 2), what="batches of both jobs")
    subprocess.run([cluster, "stop-controller"], check=True)
    time.sleep(75)
    subprocess.run([cluster, "start-controller"], check=True)
    assert run.finish() == 0, run.text
    check(tmp_path, undisturbed, [1, 2])


def test_a_killed_main_process_is_resumed_by_one_command(start, tmp_path, undisturbed):
    targets = [f"answers/{n}.jsonl" for n in range(1, 4)]
    run = start(*targets, "--config", "pause=1")
    wait_until(lambda: all(batches(tmp_path, n) for n in range(1, 4)), what="batches of every job")
    run.kill()
    assert len(slurm_jobs(tmp_path, states="RUNNING")) == 3
    resumed = start(*targets, "--config", "pause=1", program=RESUME)
    assert resumed.finish() == 0, resumed.text
    assert "Cancelled 3 jobs" in resumed.text
    check(tmp_path, undisturbed, [1, 2, 3])


def test_resuming_beside_a_main_process_that_lives_is_refused(start, tmp_path):
    run = start("answers/1.jsonl", "--config", "pause=1")
    wait_until(lambda: batches(tmp_path), what="a batch")
    second = start("answers/1.jsonl", "--config", "pause=1", program=RESUME)
    assert second.finish(60) == 1
    assert "is at work" in second.text
    assert slurm_jobs(tmp_path, states="RUNNING")
    run.process.send_signal(signal.SIGINT)
    run.finish(120)


@pytest.mark.full
def test_twenty_random_kills_lose_and_double_nothing(start, tmp_path, undisturbed):
    """Kills of jobs and of the main process at random moments, with one seed."""
    dice = random.Random(20250206)
    arguments = [*(f"answers/{n}.jsonl" for n in range(1, 5)), "--config", "pause=4", "--retries", "9"]
    run = start(*arguments)
    for _ in range(20):
        time.sleep(dice.uniform(3, 12))
        if run.process.poll() is not None:
            run = start(*arguments, program=RESUME)
        elif dice.random() < 0.3:
            run.kill()
            run = start(*arguments, program=RESUME)
        elif jobs := slurm_jobs(tmp_path, states="RUNNING"):
            how = dice.choice([["--signal=KILL"], ["--signal=TERM"], []])
            subprocess.run(["scancel", *how, dice.choice(jobs)], check=True)
    if run.finish(900) != 0:
        run = start(*arguments, program=RESUME)
        assert run.finish(900) == 0, run.text
    check(tmp_path, undisturbed, [1, 2, 3, 4])
