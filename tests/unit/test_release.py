"""Releases: what goes in comes out, equal files give equal archives, and a changed byte is refused."""

import gzip
import io
import subprocess
import tarfile

import pytest

from beyondqa.errors import StudyError
from beyondqa.report.release import pack, unpack


@pytest.fixture
def results(tmp_path):
    root = tmp_path / "results"
    for name, text in {"datasets/a.jsonl": "items\n", "inference/greedy/m/p/1-of-1.jsonl": "answers\n"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def files(results):
    return [str(path) for path in sorted(results.rglob("*.jsonl"))]


def test_what_goes_in_comes_out(results, files, tmp_path):
    pack(files, results, {"config": {}}, tmp_path / "r.tar.gz")
    other = tmp_path / "other"
    wanted = [path.replace(str(results), str(other)) for path in files]
    unpack(tmp_path / "r.tar.gz", wanted, other)
    for before, after in zip(files, wanted, strict=True):
        with open(before, "rb") as one, open(after, "rb") as two:
            assert one.read() == two.read()


def test_equal_files_give_an_equal_archive(results, files, tmp_path):
    pack(files, results, {"config": {}}, tmp_path / "a.tar.gz")
    for path in files:
        with open(path, "a") as file:
            file.write("")
    pack(files[::-1], results, {"config": {}}, tmp_path / "b.tar.gz")
    assert (tmp_path / "a.tar.gz").read_bytes() == (tmp_path / "b.tar.gz").read_bytes()


def test_other_tools_can_check_the_archive(results, files, tmp_path):
    pack(files, results, {"config": {}}, tmp_path / "r.tar.gz")
    subprocess.run(["tar", "-xzf", tmp_path / "r.tar.gz", "-C", tmp_path], check=True)
    checked = subprocess.run(["sha256sum", "-c", "SHA256SUMS"], cwd=tmp_path, capture_output=True, text=True)
    assert checked.returncode == 0
    assert checked.stdout.count(": OK") == 2


def test_an_unpacked_release_serves_as_well(results, files, tmp_path):
    pack(files, results, {"config": {}}, tmp_path / "r.tar.gz")
    folder, other = tmp_path / "folder", tmp_path / "other"
    folder.mkdir()
    subprocess.run(["tar", "-xzf", tmp_path / "r.tar.gz", "-C", folder], check=True)
    unpack(folder, [str(other / "datasets/a.jsonl")], other)
    assert (other / "datasets/a.jsonl").read_text() == "items\n"


def test_a_changed_byte_is_refused_and_nothing_is_put_in_place(results, files, tmp_path):
    pack(files, results, {"config": {}}, tmp_path / "r.tar.gz")
    folder, other = tmp_path / "folder", tmp_path / "other"
    folder.mkdir()
    subprocess.run(["tar", "-xzf", tmp_path / "r.tar.gz", "-C", folder], check=True)
    (folder / "inference/greedy/m/p/1-of-1.jsonl").write_text("changed\n")
    wanted = [str(other / "datasets/a.jsonl"), str(other / "inference/greedy/m/p/1-of-1.jsonl")]
    with pytest.raises(StudyError, match=r"record inference/greedy/m/p/1-of-1\.jsonl: differs from its checksum"):
        unpack(folder, wanted, other)
    assert not other.exists()


def test_a_file_that_the_release_lacks_is_named(results, files, tmp_path):
    pack(files, results, {"config": {}}, tmp_path / "r.tar.gz")
    with pytest.raises(StudyError, match=r"record datasets/b\.jsonl: is not in the release"):
        unpack(tmp_path / "r.tar.gz", [str(tmp_path / "datasets/b.jsonl")], tmp_path)


def test_something_else_is_no_release(tmp_path):
    (tmp_path / "r.tar.gz").write_text("<html>404</html>")
    with pytest.raises(StudyError, match=r"r\.tar\.gz: is no release"):
        unpack(tmp_path / "r.tar.gz", [], tmp_path)


def test_an_archive_cannot_write_outside(tmp_path):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        member = tarfile.TarInfo("../escaped")
        member.size = 1
        tar.addfile(member, io.BytesIO(b"x"))
    (tmp_path / "r.tar.gz").write_bytes(gzip.compress(content.getvalue()))
    with pytest.raises(StudyError, match="is no release"):
        unpack(tmp_path / "r.tar.gz", [], tmp_path / "other")
    assert not (tmp_path / "escaped").exists()
