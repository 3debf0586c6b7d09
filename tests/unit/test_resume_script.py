"""Asking the resume script for help touches no job."""

import subprocess
import sys


def test_help_is_only_help(root, tmp_path):
    """With no program on the PATH, anything but printing would fail."""
    script = root / "workflow/scripts/resume.py"
    process = subprocess.run(
        [sys.executable, script, "--help"], cwd=tmp_path, env={"PATH": ""}, capture_output=True, text=True
    )
    assert process.returncode == 0, process.stderr
    assert "Go on with a run on SLURM" in process.stdout
    assert "Cancelled" not in process.stdout
