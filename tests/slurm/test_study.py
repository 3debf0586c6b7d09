"""The study itself on SLURM: one model and two items, killed three times, against a run that nobody disturbs."""

import subprocess

import pytest
from runs import PROFILE, ROOT, Run, checkout, slurm_jobs, wait_until

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

    arguments = [*PROFILE, *MICRO, "--config", "results=results/disturbed", "--", "tables"]
    journal = folder / f"results/disturbed/journals/samples/{MODEL}/all.1-of-1.jsonl"

    def batches():
        return journal.read_text().count("\n") if journal.exists() else 0

    def running_after(count):
        """The job that samples, once so many batches are in its journal."""
        wait_until(lambda: batches() >= count, timeout=300, what=f"{count} batches")
        return [job for job in slurm_jobs(folder, states="RUNNING", rule="infer") if "samples" in comment(job)]

    run = Run(folder, arguments)
    (job,) = running_after(2)
    subprocess.run(["scancel", "--signal=KILL", job], check=True)
    (job,) = running_after(4)
    subprocess.run(["scancel", "--signal=TERM", job], check=True)
    (job,) = running_after(6)
    run.kill()
    assert job in slurm_jobs(folder, states="RUNNING")
    resumed = Run(folder, arguments, RESUME)
    assert resumed.finish(1500) == 0, resumed.text
    assert "Cancelled" in resumed.text

    assert batches() == SAMPLES
    expected, found = results(folder / "results/undisturbed"), results(folder / "results/disturbed")
    assert len(expected) > 10
    assert found == expected


def comment(job):
    return subprocess.check_output(["squeue", "--noheader", "--jobs", job, "--format=%k"], text=True)
