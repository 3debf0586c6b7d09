"""A folder that holds the study but for its config and results, and commands measured in it."""

import os
import subprocess
import sys
from pathlib import Path
from resource import struct_rusage

ROOT = Path(__file__).resolve().parents[1]
LINKED = ("Snakefile", "rules", "workflow", "envs", "resources", "profiles")


def link_study(folder: Path) -> None:
    """Make the project's files appear in the folder."""
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)


def measured(command: list[str], folder: Path, **variables: str) -> tuple[str, struct_rusage]:
    """What a command wrote, and the resources that it and all that it waited for took; ends the benchmark where it
    fails."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command[1:5])} failed:\n{output[-3000:]}")
    return output, usage
