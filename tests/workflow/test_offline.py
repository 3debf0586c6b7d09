"""After `fetch` nothing needs the network: the whole workflow runs where there is none."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from support.tiny_model import write_model


@pytest.fixture
def without_network():
    """A command prefix that runs a program in a network namespace of its own, which reaches nothing."""
    prefix = ["unshare", "--net"]
    if shutil.which("unshare") is None or subprocess.run([*prefix, "true"], capture_output=True).returncode:
        pytest.skip("needs the right to make a network namespace (root)")
    probe = "import socket; socket.create_connection(('127.0.0.1', 9), 1)"
    outcome = subprocess.run([*prefix, sys.executable, "-c", probe], capture_output=True, text=True)
    assert "Network is unreachable" in outcome.stderr
    return prefix


def test_real_rows_to_report_without_a_network(without_network, tmp_path, root, shared):
    """Real rows of a Hub mirror and of original files, a model, every kind of score, tables, figures, report."""
    config = {
        "study": {"name": "offline", "seed": 1},
        "results": str(tmp_path / "results"),
        "hub_mirror": str(shared / "hub"),
        "originals": str(shared / "data"),
        "models": [
            {
                "name": f"tiny-{n}",
                "path": str(write_model(tmp_path / f"model-{n}", context=2048)),
                "engine": "transformers",
            }
            for n in range(2)
        ],
        "groups": {"g": {"models": ["tiny-0", "tiny-1"], "tasks": ["multiple_choice", "open_questions"]}},
        "benchmarks": {"careqa": {"limit": 4}, "pubmedqa": {"limit": 2}, "mediqa2019": {"limit": 2}},
        "inference": {
            "packs": "all",
            "max_new_tokens": 8,
            "rephrased": {"benchmarks": ["mediqa2019"], "count": 2, "rephraser": "tiny-0"},
        },
        "metrics": {
            "accuracy": {},
            "perplexity": {},
            "length": {},
            "rouge": {},
            "bleu": {},
            "bertscore": {
                "encoders": [{"name": "all-minilm-l6-v2", "embedded": True, "layer": 6, "stand_in": "roberta-large"}]
            },
        },
    }
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(config))
    snakemake = Path(sys.executable).with_name("snakemake")
    process = subprocess.run(
        [*without_network, snakemake, "--profile", "profiles/local", "--nolock", "--configfile", path],
        cwd=root,
        env={**os.environ, "OMP_NUM_THREADS": "1", "HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert process.returncode == 0, process.stdout[-3000:] + process.stderr[-6000:]
    assert (tmp_path / "results/report.html").exists()
