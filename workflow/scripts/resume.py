"""Go on with a run on SLURM whose main process died: `python workflow/scripts/resume.py [snakemake's arguments]`.

Jobs of a dead main process go on and would write the same files as their successors. So they are cancelled first
and waited for; then the folder is unlocked and Snakemake started again. Answers that the cancelled jobs had are
in the journals.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

import psutil

PREFIX = "beyondqa_"  # slurm-jobname-prefix in profiles/slurm/config.yaml
PATIENCE_SECONDS = 300
DRY = {"-n", "--dry-run", "--dryrun"}
DEAD = "--main-process-is-dead"


def jobs_of(folder: Path) -> list[str]:
    """Ids of this user's jobs that the study submitted from the folder and that have not ended."""
    command = ["squeue", "--me", "--noheader", "--format=%i|%j|%Z"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    rows = [line.split("|", 2) for line in listed.splitlines()]
    return [job for job, name, where in rows if name.startswith(PREFIX) and Path(where) == folder]


def main_processes(folder: Path) -> list[int]:
    """Process ids of Snakemakes that work in the folder on this machine and were not started by one for its jobs."""
    found = []
    for process in psutil.process_iter(["pid", "cmdline"]):
        try:
            command = process.info["cmdline"]
            runs = any(Path(word).name in ("snakemake", "__main__.py") for word in command[:3])
            if runs and Path(process.cwd()) == folder and "--target-jobs" not in command:
                found.append(process.pid)
        except (psutil.Error, TypeError):
            continue
    return found


def unfinished_elsewhere(folder: Path) -> tuple[str, Path] | None:
    """Another machine on which the folder's last run was started, and its log, where that has no end."""
    logs = sorted((folder / ".snakemake" / "log").glob("*.snakemake.log"))
    if not logs:
        return None
    text = logs[-1].read_text(encoding="utf-8", errors="replace")
    host = re.search(r"^  Host: (.+)$", text, flags=re.M)
    ended = re.search(r"^Complete log\(s\): ", text, flags=re.M)
    return (host[1], logs[-1]) if host and not ended and host[1] != platform.node() else None


def cancel(folder: Path, jobs: list[str]) -> None:
    """Cancel the folder's jobs and wait until they are gone."""
    if jobs:
        subprocess.run(["scancel", *jobs], check=True, timeout=60)
    end = time.monotonic() + PATIENCE_SECONDS
    while left := jobs_of(folder):
        if time.monotonic() > end:
            stop(f"jobs {', '.join(left)} do not end; ask the cluster's operators, then run this again")
        time.sleep(2)


def stop(problem: str) -> NoReturn:
    sys.exit(f"Beyond-QA: {problem}")


def main(arguments: list[str]) -> None:
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        return
    folder = Path.cwd()
    if not (folder / "Snakefile").exists() and not {"-s", "--snakefile"} & set(arguments):
        stop(f"{folder} has no Snakefile; run this where the study runs")
    if shutil.which("squeue") is None:
        stop("there is no squeue here; run this on a machine that submits to SLURM, or `snakemake` itself elsewhere")
    if running := main_processes(folder):
        stop(f"Snakemake (process {running[0]}) is at work in {folder}; end it first, or wait for it")
    if DEAD not in arguments and (elsewhere := unfinished_elsewhere(folder)):
        host, log = elsewhere
        stop(
            f"the last run was started on {host} and its log {log} has no end. "
            f"End it there; where it is gone, add {DEAD}"
        )
    snakemake = [sys.executable, "-m", "snakemake"]
    arguments = [argument for argument in arguments if argument != DEAD]
    try:
        jobs = jobs_of(folder)
        if DRY & set(arguments):
            print(f"Would cancel {len(jobs)} jobs of an earlier run: {', '.join(jobs) or 'none'}", flush=True)
        else:
            cancel(folder, jobs)
            print(f"Cancelled {len(jobs)} jobs of an earlier run", flush=True)
            # In front, since behind a "--" it would be a target.
            subprocess.run([*snakemake, "--unlock", *arguments], check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        told = (error.stderr or "").strip()
        stop(f"`{' '.join(map(str, error.cmd[:4]))}` failed{': ' + told if told else ''}; run this again once it works")
    os.execv(sys.executable, [*snakemake, *arguments])


if __name__ == "__main__":
    main(sys.argv[1:] or ["--profile", "profiles/slurm"])
