"""Pin what the environments' packages need themselves.

`python envs/pin.py` rewrites the second half of every envs/*.yaml; `--check` writes nothing and fails where pip
would install anything else than what the file pins. Needs a package index, no conda.

The first half of a pip section is written by hand. The second half is what pip adds to it, with the versions of
requirements.lock wherever those fit.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

ENVIRONMENTS = Path(__file__).resolve().parent
LOCK = ENVIRONMENTS.parent / "requirements.lock"
MARKER = "      # What those need: `make environments` writes the rest.\n"
INDENT = "      - "
# torch pins its accelerator libraries itself, and a torch for CPUs needs none of them. Only the environment that
# is for GPUs alone lists them.
ACCELERATOR = re.compile(r"nvidia-|cuda-|triton$")
GPU_ONLY = {"engine-vllm"}
RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}"


def canonical(name: str) -> str:
    """A distribution's name in its canonical form (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(requirements: list[str]) -> dict[str, str]:
    """Canonical name -> version of `name==version` lines. Raises ValueError on anything else."""
    found = {}
    for requirement in requirements:
        match = re.fullmatch(r"([A-Za-z0-9._-]+)==([A-Za-z0-9.+!_-]+)", requirement)
        if match is None:
            raise ValueError(f"{requirement!r} is no exact pin")
        found[canonical(match[1])] = match[2]
    return found


def lock() -> dict[str, str]:
    """The pins of requirements.lock."""
    return pins(LOCK.read_text(encoding="utf-8").split())


def pip_section(text: str) -> list[str]:
    """The pip requirements of an environment file, in its order."""
    (section,) = [part["pip"] for part in yaml.safe_load(text)["dependencies"] if isinstance(part, dict)]
    return section


def python_version(text: str) -> str:
    """The Python version that an environment file pins."""
    (version,) = re.findall(r"^  - python =(\S+)$", text, flags=re.M)
    return version


def halves(text: str) -> tuple[str, list[str]]:
    """What is written by hand, with the marker, and the pins behind it."""
    head, marker, tail = text.partition(MARKER)
    if not marker:
        raise ValueError(f"lacks the line {MARKER.strip()!r}")
    return head + marker, [line.removeprefix(INDENT) for line in tail.splitlines()]


def resolved(path: Path) -> list[str]:
    """What pip would install beside the hand-written pins of an environment, as sorted `name==version`."""
    text = path.read_text(encoding="utf-8")
    head, _ = halves(text)
    asked = pip_section(head)
    own = pins(asked)
    # `===` keeps a torch with a local version (2.13.0+cpu) from standing in for the published one.
    torch = [f"torch==={own['torch']}"] if path.stem in GPU_ONLY else []
    if not python_version(text).startswith(RUNNING + "."):
        raise SystemExit(f"{path.name} pins Python {python_version(text)}, and pip resolves for its own: {RUNNING}")
    constraints = [f"{name}=={version}" for name, version in lock().items() if name not in own]
    with tempfile.TemporaryDirectory() as folder:
        report, limits = Path(folder) / "report.json", Path(folder) / "constraints.txt"
        limits.write_text("\n".join(constraints), encoding="utf-8")
        command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--ignore-installed"]
        command += ["--constraint", str(limits), "--report", str(report), *asked, *torch]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{path.name}: pip finds no solution:\n{done.stderr}")
        installed = json.loads(report.read_text(encoding="utf-8"))["install"]
    versions = {canonical(m["name"]): m["version"] for m in (entry["metadata"] for entry in installed)}
    return sorted(
        f"{name}=={version}"
        for name, version in versions.items()
        if name not in own and (path.stem in GPU_ONLY or not ACCELERATOR.match(name))
    )


def main(check: bool) -> int:
    """Renew or check every environment; returns how many differ from what pip finds."""
    stale = 0
    for path in sorted(ENVIRONMENTS.glob("*.yaml")):
        head, pinned = halves(path.read_text(encoding="utf-8"))
        needed = resolved(path)
        changes = sorted(set(needed) ^ set(pinned))
        stale += bool(changes)
        print(f"{path.name}: {'fine' if not changes else 'differs in ' + ', '.join(changes)}", flush=True)
        if not check:
            path.write_text(head + "".join(f"{INDENT}{requirement}\n" for requirement in needed), encoding="utf-8")
    return stale


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail where a file is stale")
    check_only = parser.parse_args().check
    outdated = main(check_only)
    sys.exit(bool(outdated) if check_only else 0)
