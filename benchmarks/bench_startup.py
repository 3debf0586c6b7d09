"""Processor time that one small job takes on a SLURM node, and how much of it is Snakemake's own.

`make bench-startup` prints, last: startup cpu_s=A snakemake_cpu_s=B ratio=A/B
A is a job of the papers' study, which reads the study's files twice (the executor starts Snakemake, and that starts it
again under srun), imports the library and writes one benchmark's items. B is the same two starts for a workflow of
one empty rule. A stand-in for srun runs what it is given, so that no cluster is needed; the rest is the real thing.
"""

import os
import sys
import tempfile
from pathlib import Path

import yaml
from study_folder import ROOT, link_study, measured

JOB = "normalise_dataset"
EMPTY = 'rule nothing:\n    output:\n        "nothing.txt",\n    shell:\n        "touch {output}"\n'
SRUN = '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nexec "$@"\n'
REPEATS = 3


def job_seconds(folder: Path, target: str) -> float:
    """Processor seconds of a job, with all that it starts, as the executor for SLURM has it run on a node."""
    srun = folder / "bin" / "srun"
    srun.parent.mkdir(exist_ok=True)
    srun.write_text(SRUN)
    srun.chmod(0o755)
    command = [sys.executable, "-m", "snakemake", "--target-jobs", target, "--allowed-rules", target.partition(":")[0]]
    command += ["--executor", "slurm-jobstep", "--mode", "remote", "--jobs", "1", "--cores", "all", "--force"]
    command += ["--nolock", "--ignore-incomplete", "--quiet", "all", "--software-deployment-method", "env-modules"]
    _, usage = measured(command, folder, PATH=f"{srun.parent}:{os.environ['PATH']}", SLURM_JOB_ID="1")
    return usage.ru_utime + usage.ru_stime


def of_the_study(folder: Path) -> float:
    link_study(folder)
    config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    (folder / "config.yaml").write_text(yaml.safe_dump({**config, "rows": "resources/demo"}), encoding="utf-8")
    seconds = job_seconds(folder, f"{JOB}:benchmark=careqa")
    assert (folder / "results/datasets/careqa.jsonl").stat().st_size
    return seconds


def of_an_empty_rule(folder: Path) -> float:
    (folder / "Snakefile").write_text(EMPTY, encoding="utf-8")
    seconds = job_seconds(folder, "nothing:")
    assert (folder / "nothing.txt").exists()
    return seconds


def least(measure) -> float:
    """The least of some measurements, each in a fresh folder."""
    found = []
    for _ in range(REPEATS):
        with tempfile.TemporaryDirectory() as folder:
            found.append(measure(Path(folder)))
    return min(found)


def main() -> None:
    ours, own = least(of_the_study), least(of_an_empty_rule)
    print(f"startup cpu_s={ours:.1f} snakemake_cpu_s={own:.1f} ratio={ours / own:.2f}")


if __name__ == "__main__":
    main()
