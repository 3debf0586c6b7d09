"""A SLURM for the tests, and runs of the toy workflow on it through the unchanged profile."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from runs import CLUSTER, ONE_ENVIRONMENT, PROFILE, TOY, Run, slurm_jobs


def pytest_configure(config):
    config.addinivalue_line("markers", "slurm: runs jobs on a SLURM that the test starts")


@pytest.fixture(scope="session")
def cluster():
    """A running SLURM with two GPUs; skips where it cannot be started, fails there on CI."""
    lacking = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if shutil.which(name) is None]
    if lacking or os.getuid() != 0:
        reason = f"needs root and {', '.join(lacking) or 'nothing else'}: packages munge and slurm-wlm"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    owner = {**os.environ, "CLUSTER_OWNER": str(os.getpid())}
    subprocess.run([CLUSTER, "start"], check=True, timeout=120, env=owner)
    yield CLUSTER
    subprocess.run([CLUSTER, "stop"], check=True, timeout=120)


@pytest.fixture
def start(cluster, tmp_path):
    """Start the toy on the cluster: start("answers/1.jsonl", "--config", "pause=1")."""
    runs = []

    def begin(*arguments, program=("-m", "snakemake")):
        runs.append(Run(tmp_path, [*TOY, *ONE_ENVIRONMENT, *PROFILE, *arguments], program))
        return runs[-1]

    yield begin
    for run in runs:
        if run.process.poll() is None:
            run.kill()
    if jobs := slurm_jobs(tmp_path):
        subprocess.run(["scancel", *jobs], check=False, timeout=60)
