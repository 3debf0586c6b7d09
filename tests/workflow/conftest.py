"""Running Snakemake as a user does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def snakemake():
    """Call Snakemake in the project's folder; returns the finished process with its output as text."""

    def call(*arguments, check=True, env=None, timeout=600):
        process = subprocess.run(
            [Path(sys.executable).with_name("snakemake"), *map(str, arguments)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=timeout,
            env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", **(env or {})},
        )
        if check and process.returncode:
            pytest.fail(
                f"snakemake {' '.join(map(str, arguments))} failed:\n{process.stdout[-3000:]}\n{process.stderr[-6000:]}"
            )
        return process

    return call
