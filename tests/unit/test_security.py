"""Keys stay secret, pickles stay unread, and names of files cannot collide or climb."""

import io
import json
import os
import re
import subprocess
import sys
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
import yaml

from beyondqa.config import validated
from beyondqa.errors import StudyError
from beyondqa.fetching import _member
from beyondqa.trust import require_safetensors, secret

CANARY = "sk-canary-5f1d9e0c7b"


def test_a_key_comes_from_the_environment_or_from_a_file_that_its_owner_alone_reads(tmp_path, monkeypatch):
    path = tmp_path / "key"
    path.write_text("from the file\n")
    path.chmod(0o600)
    monkeypatch.delenv("STUDY_KEY", raising=False)
    with pytest.raises(StudyError, match="STUDY_KEY is not set"):
        secret("STUDY_KEY")
    monkeypatch.setenv("STUDY_KEY_FILE", str(path))
    assert secret("STUDY_KEY") == "from the file"
    monkeypatch.setenv("STUDY_KEY", "from the environment")
    assert secret("STUDY_KEY") == "from the environment"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660])
def test_a_key_that_others_can_read_is_refused(tmp_path, monkeypatch, mode):
    path = tmp_path / "key"
    path.write_text("x")
    path.chmod(mode)
    monkeypatch.delenv("STUDY_KEY", raising=False)
    monkeypatch.setenv("STUDY_KEY_FILE", str(path))
    with pytest.raises(StudyError, match="chmod 600"):
        secret("STUDY_KEY")


def test_pickled_weights_are_read_only_where_the_models_entry_says_so(tmp_path):
    (tmp_path / "pytorch_model.bin").touch()
    with pytest.raises(StudyError, match="pickled_weights: true"):
        require_safetensors(tmp_path, allowed=False, record="m")
    require_safetensors(tmp_path, allowed=True, record="m")
    (tmp_path / "model.safetensors").touch()
    require_safetensors(tmp_path, allowed=False, record="m")


@pytest.mark.parametrize("engine", ["transformers", "vllm"])
def test_every_local_engine_refuses_pickles(tmp_path, engine):
    from beyondqa import engines

    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").touch()
    entry = {"name": "m", "engine": engine, "directory": str(tmp_path)}
    with pytest.raises(StudyError, match="pickles"):
        _ = engines.load(entry).directory
    assert engines.load({**entry, "pickled_weights": True}).directory == tmp_path


def test_foreign_code_runs_only_for_models_that_are_trusted_by_name(root):
    config = yaml.safe_load((root / "config.yaml").read_text())
    assert not [model["name"] for model in validated(config)["models"] if model.get("trust_remote_code")]
    sources = [path.read_text() for path in (root / "workflow" / "scripts").rglob("*.py")]
    granted = [line for text in sources for line in re.findall(r"trust_remote_code\s*=\s*True.*", text)]
    assert granted == []


@pytest.mark.parametrize("name", ["a/b", "../a", ".a", "a b", "a\nb", "-rf", "a;rm", "$(id)", ""])
def test_model_names_that_could_climb_or_reach_a_shell_are_refused(root, name):
    config = yaml.safe_load((root / "config.yaml").read_text())
    config["models"][0]["name"] = name
    with pytest.raises(StudyError, match="must match"):
        validated(config)


def test_names_that_fall_together_on_some_file_systems_are_refused(root):
    config = yaml.safe_load((root / "config.yaml").read_text())
    first, second = config["models"][0], config["models"][1]
    for one, other, collide in (("A_b", "a_B", True), ("a_b", "a.b", False), ("a_b", "a-b", False)):
        first["name"], second["name"] = one, other
        config["groups"] = {"g": {"models": [one, other], "tasks": ["multiple_choice"]}}
        config["inference"] = {"packs": "task"}
        if collide:
            with pytest.raises(StudyError, match="names must differ"):
                validated(config)
        else:
            validated(config)


@pytest.mark.parametrize("name", ["wanted/../../escaped", "wanted/link"])
def test_archives_cannot_write_outside_their_folder(tmp_path, name):
    archive, scratch = tmp_path / "a.tar", tmp_path / "scratch"
    scratch.mkdir()
    with tarfile.open(archive, "w") as tar:
        member = tarfile.TarInfo(name)
        if name.endswith("link"):
            member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
            tar.addfile(member)
        else:
            member.size = 1
            tar.addfile(member, io.BytesIO(b"x"))
    with pytest.raises(StudyError):
        _member(archive, "wanted", scratch)
    assert not (tmp_path / "escaped").exists()


def test_no_output_of_a_model_reaches_a_shell(root):
    """There is no shell to reach: no rule has a shell command, and no script starts a process through one."""
    for path in (root / "rules").glob("*.smk"):
        assert not re.search(r"^\s+(shell|run):", path.read_text(), flags=re.M), path.name
    for path in (root / "workflow" / "scripts").rglob("*.py"):
        assert not re.search(r"shell\s*=\s*True|os\.system|(?<!\.)\b(eval|exec)\(", path.read_text()), path.name


@pytest.fixture
def endpoint():
    """An endpoint that answers every question, and with an error that repeats the key where it is asked to fail."""

    class Handler(BaseHTTPRequestHandler):
        fails = False
        seen: list[str] = []  # noqa: RUF012

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            Handler.seen.append(self.headers.get("Authorization", ""))
            choice = {"message": {"content": "Rest and drink."}, "finish_reason": "stop"}
            answer = {"error": f"bad key {CANARY}"} if Handler.fails else {"choices": [choice], "usage": {}}
            body = json.dumps(answer).encode()
            self.send_response(401 if Handler.fails else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port, Handler
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("fails", [False, True])
def test_a_key_is_in_no_file_and_in_no_line_of_a_run(root, tmp_path, endpoint, fails):
    port, handler = endpoint
    handler.fails, handler.seen = fails, []
    for name in ("Snakefile", "config.yaml", "rules", "workflow", "envs", "resources"):
        (tmp_path / name).symlink_to(root / name)
    config = {
        "study": {"name": "canary", "seed": 1},
        "results": "results",
        "rows": "resources/demo",
        "models": [
            {
                "name": "far",
                "engine": "openai",
                "base_url": f"http://127.0.0.1:{port}/v1",
                "api_key_variable": "FAR_KEY",
            }
        ],
        "groups": {"g": {"models": ["far"], "tasks": ["open_questions"]}},
        "benchmarks": {"careqa_open": {"limit": 2}},
        "metrics": {"length": {}},
    }
    (tmp_path / "canary.yaml").write_text(yaml.safe_dump(config))
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--configfile", "canary.yaml", "--verbose", "--"]
    target = "results/scores/lexical/greedy/far/open_questions.parquet"
    environment = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
    done = subprocess.run(
        [*command, target],
        cwd=tmp_path,
        env={**environment, "FAR_KEY": CANARY, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode == 0) is not fails, done.stdout + done.stderr
    assert handler.seen
    assert set(handler.seen) == {f"Bearer {CANARY}"}
    assert CANARY not in done.stdout + done.stderr
    files = [p for p in (tmp_path / n for n in ("results", ".snakemake", "logs")) if p.exists()]
    written = [path for folder in files for path in folder.rglob("*") if path.is_file()]
    assert len(written) > 3
    assert [str(path) for path in written if CANARY.encode() in path.read_bytes()] == []
