"""The study itself on SLURM: one model and two items, killed three times, against a run that nobody disturbs."""

import os
import subprocess
import sys

import pytest
from runs import ONE_ENVIRONMENT, PROFILE, ROOT, Run, checkout, slurm_jobs, wait_until

pytestmark = pytest.mark.slurm
RESUME = (ROOT / "workflow" / "scripts" / "resume.py",)
MICRO = ["--configfile", "config/micro.yaml"]
MODEL = "SmolLM2-135M-Instruct"
SAMPLES = 11


@pytest.fixture
def folder(tmp_path):
    folder = checkout(tmp_path / "study")
    yield folder
    if jobs := slurm_jobs(folder):
        subprocess.run(["scancel", *jobs], check=False, timeout=60)


def results(folder):
    """Bytes of every answer, score and table by name; scores as tables, since Parquet files hold versions."""
    import pandas as pd

    found = {}
    for pattern in ("inference/**/*.jsonl", "statistics/**/*.csv", "tables/*.csv", "tables/*.md"):
        found |= {str(path.relative_to(folder)): path.read_bytes() for path in folder.glob(pattern)}
    for path in folder.glob("scores/**/*.parquet"):
        found[str(path.relative_to(folder))] = pd.read_parquet(path).to_csv()
    return found


def test_three_kills_change_no_byte_of_the_results(cluster, folder):
    undisturbed = Run(folder, [*MICRO, "--config", "results=results/undisturbed", "--cores", "2", "--", "tables"])
    assert undisturbed.finish(900) == 0, undisturbed.text

    arguments = [*ONE_ENVIRONMENT, *PROFILE, *MICRO, "--config", "results=results/disturbed", "--", "tables"]
    journal = folder / f"results/disturbed/journals/samples/{MODEL}/all.1-of-1.jsonl"

    def batches():
        return journal.read_text().count("\n") if journal.exists() else 0

    def sampling_job(after):
        """A job that samples and has added a batch to what the jobs before it left, none of them still there."""
        kept = batches()

        def found():
            jobs = [job for job in slurm_jobs(folder, states="RUNNING", rule="infer") if "samples" in comment(job)]
            return jobs[0] if jobs and jobs[0] not in after and batches() > kept else None

        wait_until(lambda: not set(after) & set(slurm_jobs(folder)), timeout=60, what="the end of the killed job")
        kept = batches()
        return wait_until(found, timeout=400, what="a job that samples")

    run = Run(folder, arguments)
    first = sampling_job([])
    subprocess.run(["scancel", "--signal=KILL", first], check=True)
    second = sampling_job([first])
    subprocess.run(["scancel", "--signal=TERM", second], check=True)
    third = sampling_job([first, second])
    run.kill()
    assert third in slurm_jobs(folder, states="RUNNING")
    resumed = Run(folder, arguments, RESUME)
    assert resumed.finish(1500) == 0, resumed.text
    assert "Cancelled" in resumed.text

    assert batches() == SAMPLES
    expected, found = results(folder / "results/undisturbed"), results(folder / "results/disturbed")
    assert len(expected) > 10
    assert found == expected


def comment(job):
    return subprocess.check_output(["squeue", "--noheader", "--jobs", job, "--format=%k"], text=True)


@pytest.mark.full
def test_the_demo_on_slurm_with_an_environment_a_rule_gives_the_bytes_of_a_local_run(cluster, folder):
    """Each rule under its own interpreter, from a stand-in for conda; the local run has one for all rules."""
    demo = ["--configfile", "config/demo.yaml"]
    local = Run(folder, [*demo, "--config", "results=results/local", "--cores", "2", "--", "tables"])
    assert local.finish(3600) == 0, local.text
    on_slurm = [*PROFILE, *demo, "--config", "results=results/slurm", "--", "tables"]
    run = Run(folder, on_slurm, path=ROOT / "tests/conda/bin")
    assert run.finish(7200) == 0, run.text
    expected, found = results(folder / "results/local"), results(folder / "results/slurm")
    assert len(expected) > 50
    assert found == expected


@pytest.mark.full
@pytest.mark.parametrize("environment", ["bleurt", "radgraph"])
def test_metrics_that_the_demo_does_not_run_do_in_their_own_environment(tmp_path, environment):
    """It is made by the stand-in; the environment for GPUs is only resolved, by `make environments-check`."""
    conda, prefix = ROOT / "tests/conda/bin/conda", tmp_path / "environment"
    create = [conda, "env", "create", "--file", ROOT / "envs" / f"{environment}.yaml", "--prefix", prefix]
    subprocess.run([sys.executable, *create], check=True, timeout=3600)
    tests = [sys.executable, "-m", "pytest", "-rs", f"tests/unit/test_metrics_{environment}.py"]
    variables = {**os.environ, f"BEYONDQA_{environment.upper()}_PYTHON": str(prefix / "bin/python")}
    done = subprocess.run(tests, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout
    assert "SKIPPED" not in done.stdout
