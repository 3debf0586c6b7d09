"""What an edit of the library costs: a raised SEMANTICS asks that engine again, a comment asks nobody anything."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from support.tiny_model import write_model

from beyondqa.loading import load

LIBRARY = "workflow/scripts/beyondqa"
TARGETS = [f"results/inference/{job}/all/1-of-1.jsonl" for job in ("greedy/tiny", "likelihoods/tiny", "greedy/copied")]


@pytest.fixture(scope="module")
def checkout(root, tmp_path_factory):
    """A copy of the project that can be edited, with a model to run and recorded answers."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("rules", "workflow"):
        shutil.copytree(root / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Snakefile", "envs", "profiles", "resources"):
        (folder / name).symlink_to(root / name)
    prompt = root / "resources/prompts/careqa_open.txt"
    items = load(
        "careqa_open", hub_mirror="none", originals="none", rows=root / "resources/demo", prompt=prompt, seed=1
    ).items
    with open(folder / "answers.csv", "w", newline="") as file:
        csv.writer(file).writerows([("id", "text"), *((item.id, item.reference) for item in items)])
    predictions = {"careqa_open": {"path": "answers.csv", "id": "id", "text": "text"}}
    config = {
        "study": {"name": "reruns", "seed": 1},
        "rows": "resources/demo",
        "models": [
            {"name": "tiny", "path": str(write_model(folder / "model", context=512)), "engine": "transformers"},
            {"name": "copied", "engine": "recorded", "predictions": predictions},
        ],
        "groups": {"g": {"models": ["tiny", "copied"], "tasks": ["open_questions"]}},
        "benchmarks": {"careqa_open": {}},
        "inference": {"packs": "all", "max_new_tokens": 8},
        "metrics": {"length": {}},
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    run(folder)
    return folder


def run(folder, *arguments):
    """Snakemake's output for the targets, in the copy."""
    process = subprocess.run(
        [Path(sys.executable).with_name("snakemake"), "--profile", "profiles/local", *arguments, "--", *TARGETS],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout + process.stderr


def planned(folder):
    """Rule -> why Snakemake would run it, for every job of a dry run."""
    jobs = re.findall(r"^rule (\w+):\n(?:    .*\n)*?    reason: (.*)$", run(folder, "--dry-run"), re.MULTILINE)
    return sorted(jobs)


def add_comment(path):
    path.write_text(path.read_text() + "\n# A remark.\n")


def journals(folder):
    return {path: path.read_bytes() for path in sorted(folder.glob("results/journals/**/*.jsonl"))}


def keys(folder):
    return [
        answer["key"]
        for journal in journals(folder).values()
        for line in journal.splitlines()
        for answer in json.loads(line)
    ]


def test_comments_in_engines_and_in_the_library_rerun_nothing(checkout):
    assert planned(checkout) == []
    engines = sorted((checkout / LIBRARY / "engines").glob("*.py"))
    stages = sorted((checkout / LIBRARY / "stages").glob("*.py"))
    modules = [checkout / LIBRARY / f"{name}.py" for name in ("inference", "identity", "items", "records", "study")]
    assert len(engines) > 5
    for path in [*engines, *stages, *modules]:
        add_comment(path)
    assert planned(checkout) == []


def test_a_comment_in_a_script_or_in_what_makes_the_items_asks_no_model(checkout):
    """Such jobs run again, since their script or their input is newer; the journal answers them."""
    before, answers = journals(checkout), [(checkout / target).read_bytes() for target in TARGETS]
    assert len(before) == 2
    for name in ("beyondqa/loading.py", "infer.py"):
        add_comment(checkout / "workflow/scripts" / name)
    assert {rule for rule, _ in planned(checkout)} >= {"normalise_dataset", "infer_transformers"}
    run(checkout)
    assert journals(checkout) == before
    assert [(checkout / target).read_bytes() for target in TARGETS] == answers
    for stage in ("greedy", "likelihoods"):
        log = (checkout / f"results/logs/inference/{stage}/tiny/all/1-of-1.log").read_text()
        assert " 0 to ask" in log
    assert planned(checkout) == []


def test_a_raised_semantics_asks_that_engine_and_no_other(checkout):
    before = keys(checkout)
    engine = checkout / LIBRARY / "engines/transformers.py"
    text = engine.read_text()
    number = int(re.search(r"^SEMANTICS = (\d+)$", text, re.MULTILINE)[1])
    engine.write_text(text.replace(f"\nSEMANTICS = {number}\n", f"\nSEMANTICS = {number + 1}\n"))
    jobs = planned(checkout)
    assert [rule for rule, _ in jobs] == ["infer_transformers"] * 2
    assert all(reason.startswith("Params have changed") for _, reason in jobs), jobs
    run(checkout)
    after = keys(checkout)
    assert len(before) == len(set(before)) > 4
    assert len(after) == len(set(after)) == 2 * len(before)
    assert set(before) < set(after)
