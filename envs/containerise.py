"""Write the Containerfile: `PATH=tests/conda/bin:$PATH python envs/containerise.py > Containerfile`.

It is what `snakemake --containerize` prints for the rules of config.yaml, without the copies of the environment
files among its comments, and with the steps that those files leave to a script, which Snakemake forgets.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEAD = """\
# The environments of every rule of config.yaml, for `snakemake --sdm conda apptainer`.
# Written by `make environments`; a test keeps it in step with envs/.
"""


def containerfile() -> str:
    """The text. Raises SystemExit where Snakemake finds no conda on the PATH, or a stand-in for it."""
    command = [sys.executable, "-m", "snakemake", "--containerize", "--nolock", "--configfile", "config.yaml"]
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    lines = [line for line in done.stdout.splitlines() if line and not line.startswith("#")]
    return (
        HEAD
        + "\n".join([*lines, *(step for match in COPIED.finditer(done.stdout) for step in _after(*match.groups()))])
        + "\n"
    )


COPIED = re.compile(r"^COPY envs/(\S+)\.yaml (/conda-envs/\w+)/environment\.yaml$", flags=re.M)


def _after(name: str, prefix: str) -> list[str]:
    script = f"{name}.post-deploy.sh"
    if not (ROOT / "envs" / script).exists():
        return []
    return [f"COPY envs/{script} {prefix}/{script}", f"RUN conda run --prefix {prefix} bash {prefix}/{script}"]


if __name__ == "__main__":
    sys.stdout.write(containerfile())
