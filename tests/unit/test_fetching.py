"""Fetching against a server on this machine that speaks as the Hub does, and as plain file servers do."""

import hashlib
import http.server
import io
import json
import tarfile
import threading
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from beyondqa import benchmarks, fetching
from beyondqa.benchmarks.base import OriginalFile
from beyondqa.errors import StudyError
from beyondqa.fetching import (
    Fetched,
    Lock,
    fetch_model,
    fetch_original,
    metric_folders,
    model_files,
    model_ids,
    table,
)
from beyondqa.metrics import meteor
from beyondqa.sources import RECEIPT

COMMIT = "c0ffee" + "0" * 34


class Server(http.server.ThreadingHTTPServer):
    """Serves `files` by path with ranges and entity tags, and `repositories` as the Hub's API."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.repositories: dict[str, dict[str, bytes]] = {}
        self.break_after: dict[str, int] = {}  # path -> bytes sent before the connection is cut, once
        self.wrong_blob: set[str] = set()  # names whose digest the API tells wrongly
        self.status: dict[str, int] = {}
        self.requests: list[tuple[str, str, str]] = []  # method, path, range
        self.head = COMMIT

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        path = self.path.split("?")[0].lstrip("/")
        self.server.requests.append((self.command, path, self.headers.get("Range", "")))
        if path in self.server.status:
            self.answer(b"{}", status=self.server.status[path])
        elif path.startswith("api/"):
            self.answer(json.dumps(self.api(path)).encode(), {"Content-Type": "application/json"})
        elif "/resolve/" in path:
            repository, _, rest = path.partition("/resolve/")
            commit, _, name = rest.partition("/")
            data = self.server.repositories[repository.removeprefix("datasets/")][name]
            self.send_data(path, data, {"X-Repo-Commit": commit})
        elif path in self.server.files:
            self.send_data(path, self.server.files[path])
        else:
            self.answer(b"no", status=404)

    def api(self, path):
        _, _, *rest = path.split("/")
        repository = "/".join(rest[:2])
        files = self.server.repositories[repository]
        if "tree" in rest:
            return [self.entry(name, data) for name, data in files.items()]
        siblings = [{"rfilename": name} for name in files]
        commit = rest[rest.index("revision") + 1] if "revision" in rest else self.server.head
        return {"id": repository, "sha": commit, "siblings": siblings, "cardData": {"license": "mit"}}

    def entry(self, name, data):
        told = data + b"!" if name in self.server.wrong_blob else data
        entry = {"type": "file", "path": name, "size": len(data), "oid": git_blob(told)}
        if name.endswith((".parquet", ".safetensors")):
            lfs = {"oid": hashlib.sha256(told).hexdigest(), "size": len(data), "pointerSize": 100}
            entry["lfs"] = lfs
        return entry

    def send_data(self, path, data, headers=()):
        tag = f'"{hashlib.sha256(data).hexdigest()}"'
        headers = {"ETag": tag, "Accept-Ranges": "bytes", **dict(headers)}
        start = 0
        if (wanted := self.headers.get("Range")) and self.headers.get("If-Range", tag) == tag:
            start = int(wanted.removeprefix("bytes=").split("-")[0])
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        self.answer(data[start:], headers, status=206 if start else 200, cut=self.server.break_after.pop(path, None))

    def answer(self, body, headers=(), status=200, cut=None):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:cut])
        if cut is not None:
            self.close_connection = True


def git_blob(data):
    """The id of a git blob: SHA-1 of its header and bytes (git's documentation, "Git Objects")."""
    return hashlib.sha1(f"blob {len(data)}\0".encode() + data).hexdigest()


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def lock(tmp_path):
    return Lock(tmp_path / "sources.lock.json")


def parquet(rows):
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer)
    return buffer.getvalue()


ROWS = [{"Prompt": "Fever and cough.", "Completion": "Pneumonia."}, {"Prompt": "NA", "Completion": "None"}]


def medtext():
    card = "---\nconfigs:\n- config_name: default\n  data_files:\n  - {split: train, path: data/train.parquet}\n---\n"
    return {"README.md": card.encode(), "data/train.parquet": parquet(ROWS)}


def fetch_medtext(server, tmp_path, lock):
    return fetching.fetch_benchmark(
        "medtext", hub_mirror=tmp_path / "hub", originals=tmp_path / "originals", lock=lock, endpoint=server.address
    )


def test_a_hub_benchmark_arrives_locked_and_counted(server, tmp_path, lock):
    server.repositories["BI55/MedText"] = medtext()
    line = fetch_medtext(server, tmp_path, lock)
    assert (line.rows, line.revision) == (2, COMMIT)
    assert json.loads(lock.path.read_text()) == {"hub:BI55/MedText": {"revision": COMMIT}}
    folder = tmp_path / "hub/BI55/MedText"
    assert (folder / "data/train.parquet").read_bytes() == server.repositories["BI55/MedText"]["data/train.parquet"]
    assert json.loads((folder / RECEIPT).read_text())["revision"] == COMMIT


def test_a_second_fetch_asks_for_nothing(server, tmp_path, lock):
    server.repositories["BI55/MedText"] = medtext()
    fetch_medtext(server, tmp_path, lock)
    server.requests.clear()
    assert fetch_medtext(server, tmp_path, lock).rows == 2
    assert server.requests == []


def test_the_lock_is_held_when_the_hub_moves_on(server, tmp_path, lock):
    server.repositories["BI55/MedText"] = medtext()
    lock.put("hub:BI55/MedText", revision=COMMIT)
    server.head = "d" * 40
    assert fetch_medtext(server, tmp_path, lock).revision == COMMIT
    assert all("d" * 40 not in path for _, path, _ in server.requests)


def test_a_file_changed_in_the_mirror_is_fetched_again(server, tmp_path, lock):
    server.repositories["BI55/MedText"] = medtext()
    fetch_medtext(server, tmp_path, lock)
    target = tmp_path / "hub/BI55/MedText/data/train.parquet"
    target.write_bytes(parquet(ROWS[:1]))
    assert fetch_medtext(server, tmp_path, lock).rows == 2


def test_bytes_other_than_the_hub_tells_are_refused(server, tmp_path, lock):
    server.repositories["BI55/MedText"] = medtext()
    for name in ("data/train.parquet", "README.md"):
        server.wrong_blob = {name}
        with pytest.raises(StudyError, match="other bytes than the Hub tells"):
            fetch_medtext(server, tmp_path, lock)
        assert not (tmp_path / "hub/BI55/MedText" / name).exists()
        assert not (tmp_path / "hub/BI55/MedText" / RECEIPT).exists()


def test_a_gated_repository_names_the_token(server, tmp_path, lock):
    server.status["api/datasets/BI55/MedText"] = 401
    server.status[f"api/datasets/BI55/MedText/revision/{COMMIT}"] = 401
    with pytest.raises(StudyError, match="HF_TOKEN"):
        fetch_medtext(server, tmp_path, lock)
    assert not lock.path.exists()


def test_no_commit_is_made_up(server, tmp_path, lock):
    server.repositories["BI55/MedText"] = medtext()
    server.head = "main"
    with pytest.raises(StudyError, match="names no commit"):
        fetch_medtext(server, tmp_path, lock)
    assert not lock.path.exists()


def test_too_little_disk_space_is_told_before_anything_is_fetched(server, tmp_path, lock, monkeypatch):
    server.repositories["BI55/MedText"] = medtext()
    monkeypatch.setattr(fetching.shutil, "disk_usage", lambda path: type("Usage", (), {"free": 10})())
    with pytest.raises(StudyError, match="GB are free"):
        fetch_medtext(server, tmp_path, lock)
    assert not (tmp_path / "hub/BI55").exists()


def test_a_model_arrives_without_spare_copies_and_code(server, tmp_path, lock):
    server.repositories["maker/model"] = {
        "config.json": b"{}",
        "model.safetensors": b"weights",
        "pytorch_model.bin": b"old weights",
        "modeling.py": b"import os",
        "original/weights.pth": b"x",
        "README.md": b"card",
    }
    line = fetch_model("maker/model", hub_mirror=tmp_path, lock=lock, endpoint=server.address)
    arrived = {path.name for path in (tmp_path / "maker/model").iterdir() if path.name[0] != "."}
    assert arrived == {"config.json", "model.safetensors", "README.md"}
    assert (line.revision, line.licence, line.bytes) == (COMMIT, "mit", len(b"{}weightscard"))
    assert line.note == ""
    assert lock.get("model:maker/model") == {"revision": COMMIT}


def test_a_model_of_pickles_alone_is_marked(server, tmp_path, lock):
    server.repositories["maker/model"] = {"config.json": b"{}", "pytorch_model.bin": b"weights"}
    line = fetch_model("maker/model", hub_mirror=tmp_path, lock=lock, endpoint=server.address)
    assert "pickled_weights: true" in line.note
    again = fetch_model("maker/model", hub_mirror=tmp_path, lock=lock, endpoint=server.address)
    assert again == line


@pytest.mark.parametrize(
    ("names", "code", "chosen"),
    [
        (
            [
                "model-1.safetensors",
                "model.safetensors.index.json",
                "pytorch_model.bin.index.json",
                "pytorch_model.bin",
            ],
            False,
            ["model-1.safetensors", "model.safetensors.index.json"],
        ),
        (
            ["pytorch_model.bin", "training_args.bin", "tokenizer.model"],
            False,
            ["pytorch_model.bin", "tokenizer.model"],
        ),
        (["consolidated.safetensors", "model.safetensors"], False, ["model.safetensors"]),
        (["model.safetensors", "modeling.py"], True, ["model.safetensors", "modeling.py"]),
        (
            ["model.safetensors", "1_Pooling/config.json", "onnx/model.onnx"],
            False,
            ["1_Pooling/config.json", "model.safetensors"],
        ),
    ],
)
def test_files_of_a_model(names, code, chosen):
    assert model_files(names, code=code) == chosen


def test_a_repository_without_weights_is_no_model():
    with pytest.raises(StudyError, match="holds no weights"):
        model_files(["README.md", "consolidated.safetensors"])


def original(server, tmp_path, lock, data=b"col\nvalue\n", **fields):
    server.files["data.csv"] = data
    fields = {"url": f"{server.address}/data.csv", "sha256": hashlib.sha256(b"col\nvalue\n").hexdigest(), **fields}
    target = tmp_path / "originals/data.csv"
    fetch_original(OriginalFile("data.csv", **fields), target, "file:x/data.csv", lock)
    return target


def test_an_original_file_arrives(server, tmp_path, lock):
    target = original(server, tmp_path, lock)
    assert target.read_bytes() == b"col\nvalue\n"
    assert [path.name for path in target.parent.iterdir()] == ["data.csv"]
    assert not lock.path.exists()


def test_a_file_without_a_pin_is_locked_and_then_held_to(server, tmp_path, lock):
    target = original(server, tmp_path, lock, sha256=None)
    assert lock.get("file:x/data.csv")["sha256"] == hashlib.sha256(b"col\nvalue\n").hexdigest()
    target.unlink()
    with pytest.raises(StudyError, match="pinned is"):
        original(server, tmp_path, lock, data=b"col\nother\n", sha256=None)
    assert not target.exists()


def test_a_broken_download_is_carried_on_with(server, tmp_path, lock):
    data = bytes(range(256)) * 1000
    digest = hashlib.sha256(data).hexdigest()
    server.break_after["data.csv"] = 200_000
    with pytest.raises(StudyError, match="be fetched"):
        original(server, tmp_path, lock, data=data, sha256=digest)
    assert not (tmp_path / "originals/data.csv").exists()
    target = original(server, tmp_path, lock, data=data, sha256=digest)
    assert target.read_bytes() == data
    kept = int(server.requests[-1][2].removeprefix("bytes=").removesuffix("-"))
    assert 100_000 < kept <= 200_000


def test_a_file_that_changed_meanwhile_is_begun_anew(server, tmp_path, lock):
    server.break_after["data.csv"] = 200_000
    with pytest.raises(StudyError, match="be fetched"):
        original(server, tmp_path, lock, data=b"a" * 250_000, sha256=None)
    target = original(server, tmp_path, lock, data=b"b" * 250_000, sha256=None)
    assert server.requests[-1][2] != ""
    assert target.read_bytes() == b"b" * 250_000


def test_a_wrong_digest_leaves_nothing(server, tmp_path, lock):
    with pytest.raises(StudyError, match="pinned is"):
        original(server, tmp_path, lock, data=b"tampered")
    assert list((tmp_path / "originals").iterdir()) == []


@pytest.mark.parametrize("page", [b"<!DOCTYPE html><html>sorry</html>", b"\xef\xbb\xbf\n <HTML>sorry"])
def test_a_web_page_is_refused(server, tmp_path, lock, page):
    with pytest.raises(StudyError, match="gave a web page"):
        original(server, tmp_path, lock, data=page, sha256=None)
    assert list((tmp_path / "originals").iterdir()) == []
    assert not lock.path.exists()


def test_a_missing_address_is_told(server, tmp_path, lock):
    with pytest.raises(StudyError, match="404"):
        original(server, tmp_path, lock, url=f"{server.address}/gone.csv")


def test_a_right_file_is_not_fetched_and_a_wrong_one_replaced(server, tmp_path, lock):
    target = original(server, tmp_path, lock)
    server.requests.clear()
    original(server, tmp_path, lock)
    assert server.requests == []
    target.write_bytes(b"damaged")
    assert original(server, tmp_path, lock).read_bytes() == b"col\nvalue\n"


def archive(members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def test_a_member_of_an_archive_is_taken_out(server, tmp_path, lock):
    server.files["a.tar.gz"] = archive(
        {"top/EN/test.tsv": b"a O\n", "top/EN/train.tsv": b"b O\n", "top/notes/1.txt": b"n"}
    )
    address = f"{server.address}/a.tar.gz"
    one = OriginalFile("EN/test.tsv", address, hashlib.sha256(b"a O\n").hexdigest(), member="top/EN/test.tsv")
    fetch_original(one, tmp_path / "c/EN/test.tsv", "file:c/EN/test.tsv", lock)
    assert (tmp_path / "c/EN/test.tsv").read_bytes() == b"a O\n"
    folder = OriginalFile("notes", address, member="top/notes")
    fetch_original(folder, tmp_path / "c/notes", "file:c/notes", lock)
    assert (tmp_path / "c/notes/1.txt").read_bytes() == b"n"
    assert sorted(path.name for path in (tmp_path / "c").iterdir()) == ["EN", "notes"]


def test_an_archive_that_writes_outside_is_refused(server, tmp_path, lock):
    server.files["a.tar.gz"] = archive({"top/../../../evil.txt": b"x", "top/x": b"y"})
    file = OriginalFile("top", f"{server.address}/a.tar.gz", member="top")
    with pytest.raises(StudyError, match="no whole archive"):
        fetch_original(file, tmp_path / "deep/er/top", "file:c/top", lock)
    assert not list(tmp_path.rglob("evil.txt"))


def test_a_truncated_archive_is_told(server, tmp_path, lock):
    server.files["a.tar.gz"] = archive({"top/x": bytes(range(256)) * 99})[:200]
    with pytest.raises(StudyError, match="no whole archive"):
        fetch_original(OriginalFile("x", f"{server.address}/a.tar.gz", member="top/x"), tmp_path / "x", "file:x", lock)
    assert not (tmp_path / "x").exists()


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, data in members.items():
            file.writestr(name, data)
    return buffer.getvalue()


def test_files_of_a_metric_arrive_where_it_reads_them(server, tmp_path, lock, monkeypatch):
    """METEOR's, with the folder layout of NLTK's archives."""
    server.files["wordnet.zip"] = zipped({"wordnet/data.noun": b"entity", "elsewhere": b"x"})
    server.files["punkt_tab.zip"] = zipped({"punkt_tab/english/abbrev_types.txt": b"dr"})
    assert set(meteor.FILES) == {"corpora/wordnet", "tokenizers/punkt_tab"}
    assert all(url.endswith(f"/packages/{name}.zip") for name, url in meteor.FILES.items())
    addresses = {name: f"{server.address}/{name.split('/')[1]}.zip" for name in meteor.FILES}
    monkeypatch.setattr(meteor, "FILES", addresses)
    line = fetching.fetch_metric_files("meteor", tmp_path / "nltk", lock=lock)
    arrived = {str(path.relative_to(tmp_path / "nltk")) for path in (tmp_path / "nltk").rglob("*") if path.is_file()}
    assert arrived == {"corpora/wordnet/data.noun", "tokenizers/punkt_tab/english/abbrev_types.txt"}
    assert (line.name, line.bytes) == ("meteor", 8)
    server.requests.clear()
    fetching.fetch_metric_files("meteor", tmp_path / "nltk", lock=lock)
    assert server.requests == []
    (tmp_path / "nltk/corpora/wordnet/data.noun").write_bytes(b"damaged")
    fetching.fetch_metric_files("meteor", tmp_path / "nltk", lock=lock)
    assert (tmp_path / "nltk/corpora/wordnet/data.noun").read_bytes() == b"entity"


def test_metrics_that_read_files_of_their_own():
    config = {"metrics": {"rouge": {}, "meteor": None, "entqa_baselines": {"bleu": {}}}}
    assert metric_folders(config) == {"meteor": meteor.DATA}
    config = {"metrics": {"rouge": {}, "entqa_baselines": {"meteor": {"data": "here"}}}}
    assert metric_folders(config) == {"meteor": "here"}
    assert metric_folders({"metrics": {"rouge": {}, "entqa_baselines": None}}) == {}


def test_a_zip_that_writes_outside_stays_inside(server, tmp_path, lock):
    server.files["a.zip"] = zipped({"top/../../../evil.txt": b"x", "top/x": b"y"})
    fetch_original(OriginalFile("top", f"{server.address}/a.zip", member="top"), tmp_path / "d/e/top", "file:t", lock)
    assert (tmp_path / "d/e/top/x").read_bytes() == b"y"
    assert {path.parent for path in tmp_path.rglob("evil.txt")} <= {tmp_path / "d/e/top"}


def test_credentialed_data_are_never_fetched(tmp_path, lock):
    line = fetching.fetch_benchmark("mimic_hospital_course", hub_mirror=tmp_path, originals=tmp_path, lock=lock)
    assert line.rows is None
    assert "PhysioNet" in line.note
    assert list(tmp_path.iterdir()) == []


def test_models_that_a_config_needs():
    config = {
        "models": [
            {"name": "a", "id": "maker/a", "engine": "vllm", "trust_remote_code": True, "revision": COMMIT},
            {"name": "b", "id": "maker/b", "engine": "openai"},
            {"name": "c", "embedded": "SmolLM2-135M-Instruct", "engine": "transformers"},
            {"name": "d", "id": "maker/d", "path": "here", "engine": "transformers"},
        ],
        "metrics": {"bertscore": {"encoders": [{"name": "e", "id": "maker/e", "layer": 17}]}, "rouge": {}},
    }
    assert model_ids(config) == {
        "maker/a": {"revision": COMMIT, "code": True},
        "maker/e": {"revision": None, "code": False},
    }


def test_the_table_shows_every_column():
    text = table(
        [Fetched("medtext", 1412, 900000, "CC-BY-4.0", COMMIT), Fetched("mimic", None, None, "PhysioNet", "", "no")]
    )
    assert all(word in text for word in ("1,412", "900,000", "CC-BY-4.0", COMMIT, "PhysioNet", "licence"))
    assert "nan" not in text.lower()


def test_every_address_holds_a_commit_or_is_locked_by_digest():
    for name in benchmarks.names():
        source = benchmarks.get(name).source
        for file in getattr(source, "files", ()):
            assert fetching.COMMIT.search(file.url) or file.sha256 or "drive.google.com" in file.url, name
