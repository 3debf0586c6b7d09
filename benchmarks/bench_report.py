"""Time and memory of the study's tables, figures and report, from simulated scores.

20 models, 18 benchmarks and, of every open benchmark, 18 answers an item (the greedy one, eleven samples, six
rephrasings), 200 items a benchmark. `make bench-report` prints, last:
report tables_figures_s=A peak_mb=B one_table_s=C report_s=D report_mb=E open_s=F
Peak memory is that of Snakemake and its jobs together. One table: table 7 from the scores, with nothing else there.
Opening: a screenshot of the report from the disk by headless Chromium, less that of an empty page.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil
import yaml
from study_folder import ROOT, link_study

MODELS, ITEMS = 20, 200
# EntQA is a study of its own; MIMIC's summaries would be a nineteenth benchmark.
LEFT_OUT = ("mimic_hospital_course", "entqa")
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def simulated_config() -> dict:
    """The papers' study with its first MODELS models asked every benchmark of paper 1, every open answer repeated."""
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    names = [entry["name"] for entry in config["models"][:MODELS]]
    inference = config["inference"]
    helpers = [inference["rephrased"]["rephraser"], inference["judged"]["judge"]]
    config["models"] = [entry for entry in config["models"] if entry["name"] in {*names, *helpers}]
    asked = {"metric_study": names, **{g: config["groups"][g]["models"] for g in ("small_elo", "medium_elo")}}
    config["groups"] = {
        group: {**config["groups"][group], "models": [name for name in models if name in names]}
        for group, models in asked.items()
    }
    config["benchmarks"] = {name: {} for name in config["benchmarks"] if not name.startswith(LEFT_OUT)}
    opened = [name for name in inference["judged"]["benchmarks"] if name in config["benchmarks"]]
    inference["judged"]["benchmarks"] = opened
    inference["samples"] |= {"benchmarks": opened, "count": 11}
    inference["rephrased"] |= {"benchmarks": opened, "count": 6}
    config["metrics"] = {name: own for name, own in config["metrics"].items() if not name.startswith("entqa")}
    # What asks models again is no matter of scores.
    inference.pop("relaxed_grid", None)
    for key in ("careqa_open_construction", "sensitivity", "chat_template_study", "parity"):
        config.pop(key, None)
    return config


def run(folder: Path, *targets: str) -> tuple[float, float]:
    """Wall-clock seconds and peak memory (MB) of Snakemake making the targets, its jobs included."""
    command = [sys.executable, "-m", "snakemake", "--profile", "profiles/local", "--quiet", "all", "--", *targets]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    start = time.perf_counter()
    with open(folder / "log.txt", "w") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT)
        peaks: list[int] = []
        watcher = threading.Thread(target=watch, args=(process, peaks))
        watcher.start()
        status = process.wait()
        seconds = time.perf_counter() - start
        watcher.join()
    if status:
        sys.exit(f"snakemake {' '.join(targets)} failed; run it in {folder} without --quiet")
    return seconds, max(peaks) / 2**20


def watch(process: subprocess.Popen, peaks: list[int]) -> None:
    """Resident memory of a process and its descendants, four times a second, until it ends."""
    main = psutil.Process(process.pid)
    while process.poll() is None:
        total = 0
        for one in [main, *children(main)]:
            try:
                total += one.memory_info().rss
            except psutil.NoSuchProcess:
                continue
        peaks.append(total)
        time.sleep(0.25)


def children(main: psutil.Process) -> list[psutil.Process]:
    try:
        return main.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def opening_seconds(page: Path, folder: Path) -> float:
    """What headless Chromium takes to load and paint a page, beyond its own start; nan without a browser."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return float("nan")
    taken = {"about:blank": [], page.as_uri(): []}
    for _ in range(3):
        for address, seconds in taken.items():
            command = [
                browser,
                "--headless",
                "--no-sandbox",
                "--no-first-run",
                "--disable-gpu",
                "--window-size=1280,900",
            ]
            command += [f"--user-data-dir={folder / 'profile'}", f"--screenshot={folder / 'page.png'}", address]
            start = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            seconds.append(time.perf_counter() - start)
    empty, full = map(statistics.median, taken.values())
    return full - empty


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        link_study(folder)
        (folder / "config.yaml").write_text(yaml.safe_dump(simulated_config(), sort_keys=False))
        simulate = [sys.executable, ROOT / "benchmarks/simulate_scores.py", "config.yaml", "results"]
        subprocess.run([*simulate, "--items", str(ITEMS)], cwd=folder, check=True)
        one_table, _ = run(folder, "table07")
        print(f"one table: {one_table:.1f} s")
        for made in ("tables", "statistics/means"):
            shutil.rmtree(folder / "results" / made)
        seconds, peak = run(folder, "tables", "figures")
        print(f"all tables and figures: {seconds:.1f} s, {peak:.0f} MB")
        report_seconds, _ = run(folder, "report")
        page = folder / "results" / "report.html"
        opening = opening_seconds(page, folder)
        print(
            f"report tables_figures_s={seconds:.1f} peak_mb={peak:.0f} one_table_s={one_table:.1f} "
            f"report_s={report_seconds:.1f} report_mb={page.stat().st_size / 2**20:.1f} open_s={opening:.2f}"
        )


if __name__ == "__main__":
    main()
