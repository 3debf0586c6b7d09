"""A run that is killed, resumed or sharded gives the bytes of an undisturbed one, and pays for nothing twice."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from support.tiny_model import write_model

STAGES = ("likelihoods", "greedy", "samples")


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    """A config file for a tiny model and the demo's items, in batches small enough to be killed between."""
    folder = tmp_path_factory.mktemp("study")
    model = {"name": "tiny", "path": str(write_model(folder / "model", context=512)), "engine": "transformers"}
    settings = {
        "study": {"name": "resume", "seed": 1},
        "rows": "resources/demo",
        "models": [{**model, "batch_tokens": 300, "context": 400}],
        "groups": {"g": {"models": ["tiny"], "tasks": ["multiple_choice", "open_questions"]}},
        "benchmarks": {"careqa": {}, "medqa": {}, "careqa_open": {}, "mediqa2019": {}},
        "inference": {"packs": "all", "max_new_tokens": 24, "samples": {"benchmarks": ["careqa_open"], "count": 4}},
        "metrics": {"length": {}},
    }
    path = folder / "config.yaml"
    path.write_text(yaml.safe_dump(settings))
    return path


def targets(results, shards=1):
    return [f"{results}/inference/{s}/tiny/all/{i}-of-{shards}.jsonl" for s in STAGES for i in range(1, shards + 1)]


def arguments(config, results, shards=1):
    """Arguments of a run into `results`, up to the targets."""
    settings = yaml.safe_load(config.read_text())
    settings["inference"]["shards"] = shards
    own = results / "config.yaml"
    own.write_text(yaml.safe_dump({**settings, "results": str(results)}))
    return ["--profile", "profiles/local", "--nolock", "--configfile", own, "--"]


@pytest.fixture(scope="module")
def undisturbed(snakemake, config, tmp_path_factory):
    results = tmp_path_factory.mktemp("undisturbed")
    snakemake(*arguments(config, results), *targets(results))
    return {stage: Path(target).read_bytes() for stage, target in zip(STAGES, targets(results), strict=True)}


def asked(results):
    """Keys of all answers in all journals, as often as they were paid for."""
    journals = sorted(results.glob("journals/*/tiny/*.jsonl"))
    return [
        answer["key"] for path in journals for line in path.read_bytes().splitlines() for answer in json.loads(line)
    ]


def test_killed_in_the_middle_and_run_again(snakemake, config, tmp_path, undisturbed):
    command = [
        str(Path(sys.executable).with_name("snakemake")),
        *map(str, arguments(config, tmp_path)),
        *targets(tmp_path),
    ]
    process = subprocess.Popen(
        command,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    deadline = time.monotonic() + 300
    while not asked(tmp_path) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert process.poll() is None, "the run ended before it could be killed"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    paid = asked(tmp_path)
    assert paid
    finished = [target for target in targets(tmp_path) if Path(target).exists()]
    assert len(finished) < len(STAGES)
    snakemake(*arguments(config, tmp_path), *targets(tmp_path))
    assert {s: Path(t).read_bytes() for s, t in zip(STAGES, targets(tmp_path), strict=True)} == undisturbed
    keys = asked(tmp_path)
    assert set(paid) <= set(keys)
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("shards", [3, 7])
def test_shards_hold_the_records_of_one_run(snakemake, config, tmp_path, undisturbed, shards):
    snakemake(*arguments(config, tmp_path, shards), *targets(tmp_path, shards))
    for stage in STAGES:
        parts = [path.read_bytes() for path in tmp_path.glob(f"inference/{stage}/tiny/all/*.jsonl")]
        assert len(parts) == shards
        assert sorted(b"".join(parts).splitlines()) == sorted(undisturbed[stage].splitlines())


def test_a_second_run_has_nothing_to_do(snakemake, config, tmp_path):
    snakemake(*arguments(config, tmp_path), *targets(tmp_path))
    again = snakemake(*arguments(config, tmp_path), *targets(tmp_path))
    assert "Nothing to be done" in again.stdout + again.stderr
