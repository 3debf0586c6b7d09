"""Runs of the toy workflow on the tests' SLURM, and what can be seen of them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
CLUSTER = HERE / "cluster.sh"
TOY = ["-s", str(HERE / "toy" / "Snakefile")]
# No rule has modules, so that with this every rule runs in the environment of the tests.
ONE_ENVIRONMENT = ["--software-deployment-method", "env-modules"]
PROFILE = ["--profile", str(ROOT / "profiles" / "slurm"), "--workflow-profile", str(HERE / "overlay")]


def checkout(folder):
    """A folder in which the study runs as in the project's own, with models, results and locks apart."""
    (folder / "resources").mkdir(parents=True)
    for name in ("Snakefile", "config.yaml", "rules", "workflow", "envs", "config", "profiles"):
        (folder / name).symlink_to(ROOT / name)
    for path in (ROOT / "resources").iterdir():
        if path.name != "models":
            (folder / "resources" / path.name).symlink_to(path)
    return folder


class Run:
    """Snakemake at work in a folder."""

    def __init__(self, folder, arguments, program=("-m", "snakemake"), path=""):
        self.folder = Path(folder)
        self.arguments = [*arguments]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "workflow" / "scripts"), "OMP_NUM_THREADS": "1"}
        environment["PATH"] = f"{path}:{environment['PATH']}" if path else environment["PATH"]
        self.output = self.folder / f"run-{len(list(self.folder.glob('run-*')))}.txt"
        self.process = subprocess.Popen(
            [sys.executable, *map(str, program), *self.arguments],
            cwd=self.folder,
            env=environment,
            stdout=self.output.open("w"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )

    def finish(self, timeout=600):
        """Wait for the end; returns the exit status. A run that does not end is a failure, and is killed."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            pytest.fail(f"hangs after {timeout} s:\n{self.text[-3000:]}")

    def kill(self):
        """SIGKILL to the main process and all that it started here, as a lost login node does."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    @property
    def text(self):
        return self.output.read_text()


def slurm_jobs(folder, states="PENDING,RUNNING,COMPLETING", rule=""):
    """Ids of the jobs submitted from a folder, of one rule where it is named."""
    command = ["squeue", "--noheader", f"--states={states}", "--format=%i|%Z|%k"]
    rows = [line.split("|") for line in subprocess.check_output(command, text=True, timeout=60).splitlines()]
    return [job for job, where, comment in rows if where == str(folder) and f"rule_{rule}" in comment]


def wait_until(condition, timeout=120, what="it"):
    """The first true value of the condition."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.5)
    pytest.fail(f"gave up waiting for {what}")


def journal_keys(folder, name):
    """Content keys in a toy job's journals, in the order they were written."""
    paths = sorted((folder / "journals" / name).glob("*.jsonl"))
    lines = [line for path in paths for line in path.read_text().splitlines()]
    return [answer["key"] for line in lines for answer in json.loads(line)]
