"""Time and memory of a dry run of the full study, and of one with ten times as many models.

`make bench-dag` prints, last: dag jobs=A seconds=B mb=C jobs10=D seconds10=E mb10=F
Every file that the study reads but does not make is there as an empty one, in a folder of its own, so that
Snakemake has to plan everything.
"""

import copy
import re
import sys
import tempfile
import time
from pathlib import Path

import yaml
from study_folder import ROOT, link_study, measured


def multiplied(config: dict, times: int) -> dict:
    """The study with so many copies of each model, in the groups of the original."""
    larger = copy.deepcopy(config)
    copies = [(entry, number) for number in range(1, times) for entry in config["models"]]
    larger["models"] += [
        {**entry, "name": f"{entry['name']}-{number}", "id": f"{entry['id']}-{number}"} for entry, number in copies
    ]
    for group in larger["groups"].values():
        group["models"] += [f"{name}-{number}" for number in range(1, times) for name in list(group["models"])]
    return larger


def dry_run(config: dict) -> tuple[int, float, float]:
    """Jobs, wall-clock seconds and peak memory (MB) of `snakemake -n` on a config in a fresh folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        link_study(folder)
        (folder / "config.yaml").write_text(yaml.safe_dump(config))
        start = time.perf_counter()
        output, usage = measured([sys.executable, "-m", "snakemake", "-n", "--quiet", "rules", "--cores", "1"], folder)
        seconds = time.perf_counter() - start
    total = re.search(r"^total\s+(\d+)$", output, flags=re.M)
    if total is None:
        sys.exit(f"the dry run failed:\n{output[-3000:]}")
    return int(total[1]), seconds, usage.ru_maxrss / 1024


def main() -> None:
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    jobs, seconds, mb = dry_run(config)
    jobs10, seconds10, mb10 = dry_run(multiplied(config, 10))
    print(
        f"dag jobs={jobs} seconds={seconds:.1f} mb={mb:.0f} jobs10={jobs10} seconds10={seconds10:.1f} mb10={mb10:.0f}"
    )


if __name__ == "__main__":
    main()
