"""Go on with a run on SLURM whose main process died: `python workflow/scripts/resume.py [snakemake's arguments]`.

Jobs of a dead main process go on and would write the same files as their successors. So they are cancelled first
and waited for; then the folder is unlocked and Snakemake started again. Answers that the cancelled jobs had are
in the journals.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

PREFIX = "beyondqa_"  # slurm-jobname-prefix in profiles/slurm/config.yaml
PATIENCE_SECONDS = 300


def jobs_of(folder: Path) -> list[str]:
    """Ids of this user's jobs that the study submitted from the folder and that have not ended."""
    command = ["squeue", "--me", "--noheader", "--format=%i|%j|%Z"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
    rows = [line.split("|", 2) for line in listed.splitlines()]
    return [job for job, name, where in rows if name.startswith(PREFIX) and Path(where) == folder]


def main_processes(folder: Path) -> list[int]:
    """Process ids of Snakemakes that work in the folder on this machine and are no SLURM job themselves."""
    found = []
    for process in psutil.process_iter(["pid", "cmdline"]):
        try:
            runs = any(Path(word).name in ("snakemake", "__main__.py") for word in process.info["cmdline"][:3])
            if runs and Path(process.cwd()) == folder and "SLURM_JOB_ID" not in process.environ():
                found.append(process.pid)
        except (psutil.Error, TypeError):
            continue
    return found


def cancel(folder: Path) -> int:
    """Cancel the folder's jobs and wait until they are gone; returns how many there were."""
    jobs = jobs_of(folder)
    if jobs:
        subprocess.run(["scancel", *jobs], check=True, timeout=60)
    end = time.monotonic() + PATIENCE_SECONDS
    while left := jobs_of(folder):
        if time.monotonic() > end:
            sys.exit(f"Beyond-QA: jobs {', '.join(left)} do not end; ask the cluster's operators, then run this again")
        time.sleep(2)
    return len(jobs)


def main(arguments: list[str]) -> None:
    if {"-h", "--help"} & set(arguments):
        print(__doc__)
        return
    folder = Path.cwd()
    running = main_processes(folder)
    if running:
        sys.exit(f"Beyond-QA: Snakemake (process {running[0]}) is at work in {folder}; end it first, or wait for it")
    print(f"Cancelled {cancel(folder)} jobs of an earlier run", flush=True)
    snakemake = [sys.executable, "-m", "snakemake"]
    # In front, since behind a "--" it would be a target.
    subprocess.run([*snakemake, "--unlock", *arguments], check=True)
    os.execv(sys.executable, [*snakemake, *arguments])


if __name__ == "__main__":
    main(sys.argv[1:] or ["--profile", "profiles/slurm"])
