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

from beyondqa import metrics
from beyondqa.config import validated
from beyondqa.entqa import embedders, extractors
from beyondqa.errors import StudyError
from beyondqa.fetching import _member
from beyondqa.sources import RECEIPT
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


TRUSTED = {"pickled_weights": True}


@pytest.mark.parametrize("name", ["pytorch_model.bin", "pytorch_model-00001-of-00002.bin", "weights.th", "model.pt"])
def test_pickled_weights_are_read_only_where_the_entry_says_so(tmp_path, name):
    (tmp_path / name).touch()
    for entry in ({}, {"pickled_weights": False}, {"pickled_weights": "false"}):
        with pytest.raises(StudyError, match="pickled_weights: true"):
            require_safetensors(tmp_path, entry, record="m")
    require_safetensors(tmp_path, TRUSTED, record="m")
    (tmp_path / "model.safetensors").touch()
    require_safetensors(tmp_path, {}, record="m")


def test_safetensors_that_are_not_the_weights_hide_no_pickle(tmp_path):
    for name in ("pytorch_model.bin", "adapter_model.safetensors"):
        (tmp_path / name).touch()
    with pytest.raises(StudyError, match="pickles"):
        require_safetensors(tmp_path, {}, record="m")


def test_pickles_in_a_layer_of_a_sentence_encoder_are_seen(tmp_path):
    for folder in ("1_Pooling", "2_Dense"):
        (tmp_path / folder).mkdir()
    (tmp_path / "model.safetensors").touch()
    (tmp_path / "1_Pooling" / "config.json").touch()
    require_safetensors(tmp_path, {}, record="m")
    (tmp_path / "2_Dense" / "pytorch_model.bin").touch()
    with pytest.raises(StudyError, match=r"2_Dense.*pickles"):
        require_safetensors(tmp_path, {}, record="m")


def test_the_revision_that_is_trusted_is_the_one_that_was_fetched(tmp_path):
    (tmp_path / "pytorch_model.bin").touch()
    (tmp_path / RECEIPT).write_text(json.dumps({"revision": "a" * 40}))
    with pytest.raises(StudyError, match=f"pickled_weights: true` and `revision: {'a' * 40}`"):
        require_safetensors(tmp_path, {}, record="m")
    require_safetensors(tmp_path, {**TRUSTED, "revision": "a" * 40}, record="m")
    with pytest.raises(StudyError, match=f"holds revision {'a' * 40}, and the config's is {'b' * 40}"):
        require_safetensors(tmp_path, {**TRUSTED, "revision": "b" * 40}, record="m")


@pytest.mark.parametrize("place", ["model", "encoder"])
def test_pickles_of_the_hub_are_trusted_at_a_stated_revision_alone(root, place):
    config = yaml.safe_load((root / "config.yaml").read_text())
    entry = config["models"][0] if place == "model" else config["metrics"]["bleurt"]["checkpoints"][0]
    entry["pickled_weights"] = True
    with pytest.raises(StudyError, match=rf"{entry['id']}\) trusts pickled weights and names no `revision`"):
        validated(config)
    entry["revision"] = "a" * 40
    validated(config)


def use_bertscore(entry):
    metrics.score("bertscore_f1[e,L1]", ["a"], ["b"], encoders=[{**entry, "layer": 1}])


def use_moverscore(entry):
    metrics.score("moverscore[e,L1,noidf]", ["a"], ["b"], encoders=[{**entry, "layer": 1}])


def use_bleurt(entry):
    metrics.score("bleurt[e]", ["a"], ["b"], checkpoints=[entry])


def use_extractor(entry):
    extractors.load({**entry, "kind": "token_classification"})


@pytest.mark.parametrize("use", [use_bertscore, use_moverscore, use_bleurt, embedders.load, use_extractor])
def test_every_encoder_refuses_pickles(tmp_path, use):
    """Where they are allowed, an empty folder is refused by whoever reads it, if at all, for another reason."""
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").touch()
    entry = {"name": "e", "path": str(tmp_path)}
    with pytest.raises(StudyError, match="e: the weights are pickles"):
        use(entry)
    complaint = ""
    try:
        use({**entry, **TRUSTED})
    except Exception as error:
        complaint = str(error)
    assert "pickles" not in complaint


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
