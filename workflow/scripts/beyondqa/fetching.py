"""Bringing data and models to this machine at their pinned revisions, whole or not at all.

What has no pin is resolved once and written to the lock file, to which later runs hold. No commit hash
and no digest is ever made up.
"""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import logging
import os
import re
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import benchmarks, metrics
from .benchmarks._read import refuse_html
from .benchmarks.base import CredentialedSource, FileSource, HubSource, OriginalFile
from .data_quality import head_qa
from .errors import StudyError
from .identity import directory_sha256, file_sha256
from .records import read_json, write_json
from .sources import RECEIPT, lock_keys, open_source

log = logging.getLogger(__name__)

# Sources that a study compares its benchmarks with, by name.
COMPARISONS = {head_qa.NAME: head_qa.SOURCE}
COMMIT = re.compile(r"[0-9a-f]{40}")
CHUNK = 1 << 16
AGAIN = "Run `snakemake --cores 1 fetch` again: what has arrived is kept"
# What an engine reads beside the weights, which come as safetensors, or as .bin where there are no others.
SMALL_FILES = ("*.json", "*.txt", "*.model", "*.jinja", "*.tiktoken", "README.md", "LICENSE*")
MODULE_SETTINGS = "[0-9]_*/*.json"  # of a sentence encoder's layers
# Second copies of the weights in another layout, and leftovers of training.
SPARE_WEIGHTS = ("consolidated*", "training_args.bin", "optimizer*")


@dataclass(frozen=True)
class Fetched:
    """One line of the table that `fetch` prints. `rows` is None for models and for what was not fetched."""

    name: str
    rows: int | None
    bytes: int | None
    licence: str
    revision: str
    note: str = ""


class Lock:
    """The lock file: what was resolved once, by the names of `beyondqa.sources.lock_keys`."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.entries: dict[str, dict[str, Any]] = read_json(self.path) if self.path.exists() else {}

    def get(self, key: str) -> Mapping[str, Any]:
        return self.entries.get(key, {})

    def put(self, key: str, **entry: Any) -> None:
        """Keep the entry, at once and atomically, so that a broken run resumes at the same revision."""
        if self.entries.get(key) != entry:
            self.entries[key] = entry
            write_json(self.path, dict(sorted(self.entries.items())))


def fetch_benchmark(
    name: str, *, hub_mirror: str | Path, originals: str | Path, lock: Lock, endpoint: str | None = None
) -> Fetched:
    """Bring the source of a benchmark or of COMPARISONS, verify it, count its rows. Raises StudyError."""
    source = COMPARISONS[name] if name in COMPARISONS else benchmarks.get(name).source
    if isinstance(source, CredentialedSource):
        return Fetched(name, None, None, source.licence, "", f"never fetched: needs {source.access}")
    if isinstance(source, HubSource):
        key = lock_keys(source)[0]
        folder = Path(hub_mirror) / source.repository
        fetch_repository(source.repository, "dataset", folder, key, lock, revision=source.revision, endpoint=endpoint)
    else:
        for file, key in zip(source.files, lock_keys(source), strict=True):
            fetch_original(file, Path(originals) / source.folder / file.name, key, lock)
    opened = open_source(source, hub_mirror=hub_mirror, originals=originals, locked=lock.entries)
    rows = sum(1 for _ in opened.rows)
    size = sum(file["bytes"] for file in opened.provenance["files"])
    revision = opened.provenance["revision"] or _pinned_commit(source)
    return Fetched(name, rows, size, source.licence, revision)


def fetch_model(
    repository: str,
    *,
    hub_mirror: str | Path,
    lock: Lock,
    revision: str | None = None,
    code: bool = False,
    endpoint: str | None = None,
) -> Fetched:
    """Bring a model's weights, tokenizer and settings; its Python code only where `code` says so."""
    folder = Path(hub_mirror) / repository
    receipt = fetch_repository(
        repository, "model", folder, f"model:{repository}", lock, revision=revision, endpoint=endpoint, code=code
    )
    pickled = not any(name.endswith(".safetensors") for name in receipt["files"])
    note = "pickles: read only with `pickled_weights: true` and this `revision` in the entry" if pickled else ""
    return Fetched(repository, None, receipt["bytes"], receipt["licence"], receipt["revision"], note)


def fetch_metric_files(metric: str, folder: str | Path, *, lock: Lock) -> Fetched:
    """Bring the FILES that a metric's module reads beside the texts. Raises StudyError."""
    module = metrics.module(metric)
    for name, url in module.FILES.items():
        file = OriginalFile(name, url, member=Path(name).name)
        fetch_original(file, Path(folder) / name, f"metric:{metric}/{name}", lock)
    size = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    return Fetched(metric, None, size, module.LICENCE, "locked by sha256")


def fetch_repository(
    repository: str,
    kind: str,
    folder: Path,
    key: str,
    lock: Lock,
    *,
    revision: str | None = None,
    endpoint: str | None = None,
    code: bool = False,
) -> dict[str, Any]:
    """A Hub repository of kind "dataset" or "model" in `folder`, at one commit; returns its receipt.

    A folder whose receipt tells the wanted commit, and whose files have its digests, is left as it is.
    """
    wanted = revision or lock.get(key).get("revision")
    receipt = _intact_receipt(folder, wanted)
    if receipt:
        return receipt

    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.hf_api import RepoFile

    try:
        api = HfApi(endpoint=endpoint)
        info = api.repo_info(repository, repo_type=kind, revision=wanted)
        commit = wanted or info.sha
        if not commit or not COMMIT.fullmatch(commit):
            raise StudyError(f"the Hub names no commit of {repository} but {commit!r}", remedy=AGAIN)
        lock.put(key, revision=commit)
        tree = api.list_repo_tree(repository, recursive=True, repo_type=kind, revision=commit)
        files = {entry.path: entry for entry in tree if isinstance(entry, RepoFile)}
        names = model_files(files, code=code) if kind == "model" else sorted(files)
        _require_space(folder, sum(files[name].size for name in names if not (folder / name).exists()))
        log.info("%s at %s: %d files", repository, commit, len(names))
        snapshot_download(
            repository, repo_type=kind, revision=commit, local_dir=folder, allow_patterns=names, endpoint=endpoint
        )
    except StudyError:
        raise
    except HfHubHTTPError as error:
        status = getattr(error.response, "status_code", None)
        remedy = (
            "Accept its terms on the Hub and put an access token into the environment variable HF_TOKEN"
            if status in (401, 403)
            else AGAIN
        )
        raise StudyError(f"{repository} cannot be fetched: {error}", file=folder, remedy=remedy) from error
    except Exception as error:  # the library lets its transport's own kinds of errors through
        raise StudyError(f"{repository} cannot be fetched: {error}", file=folder, remedy=AGAIN) from error

    digests = {name: _verified(folder / name, files[name]) for name in names}
    receipt = {
        "repository": repository,
        "revision": commit,
        "licence": _licence(info),
        "bytes": sum(files[name].size for name in names),
        "files": digests,
    }
    write_json(folder / RECEIPT, receipt)
    return receipt


def model_files(names: Iterable[str], *, code: bool = False) -> list[str]:
    """Those files of a model repository that an engine reads: no second copies of the weights.

    Raises StudyError where there are no weights.
    """
    names = sorted(names)
    top = [name for name in names if "/" not in name and not _matches(name, SPARE_WEIGHTS)]
    weights = [name for name in top if name.endswith(".safetensors")] or [name for name in top if name.endswith(".bin")]
    if not weights:
        raise StudyError("the repository holds no weights", remedy="Correct the model's `id` in the config")
    other_index = ".bin.index.json" if weights[0].endswith(".safetensors") else ".safetensors.index.json"
    small = [name for name in top if _matches(name, SMALL_FILES) and not name.endswith(other_index)]
    modules = [name for name in names if fnmatch.fnmatchcase(name, MODULE_SETTINGS)]
    return sorted({*weights, *small, *modules, *(name for name in top if code and name.endswith(".py"))})


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def fetch_original(file: OriginalFile, target: Path, key: str, lock: Lock) -> None:
    """An original file, or what is taken out of an archive, at `target`; a right one is left as it is."""
    wanted = file.sha256 or lock.get(key).get("sha256")
    if target.exists() and not _is_page(target) and wanted in (None, _digest(target)):
        _keep(file, target, key, lock)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as scratch:
        part = target.with_name(f".{target.name}.part")
        download(file.url, part)
        arrived = _member(part, file.member, Path(scratch)) if file.member else part
        _refuse_page(arrived, file.url)
        digest = _digest(arrived)
        if wanted and digest != wanted:
            _discard(part)
            raise StudyError(f"{file.url} gave the sha256 {digest}, pinned is {wanted}", file=target, remedy=AGAIN)
        if target.is_dir():
            shutil.rmtree(target)
        os.replace(arrived, target)
        _discard(part)
    _keep(file, target, key, lock)


def download(url: str, part: Path) -> None:
    """The bytes at `url` in `part`, whole. What an earlier attempt left there is carried on with, where the
    server says that it is still the same file, and begun anew where it does not."""
    import requests

    tag_file = part.with_name(f"{part.name}.etag")
    headers = {"Accept-Encoding": "identity"}
    have = part.stat().st_size if part.exists() and tag_file.exists() else 0
    if have:
        headers |= {"Range": f"bytes={have}-", "If-Range": tag_file.read_text(encoding="utf-8")}
    try:
        with requests.get(url, headers=headers, stream=True, timeout=60) as response:
            if response.status_code == requests.codes.requested_range_not_satisfiable:
                _discard(part)
                return download(url, part)
            response.raise_for_status()
            resumed = response.status_code == requests.codes.partial_content
            if not resumed:
                _discard(part)
                if tag := _strong_tag(response.headers):
                    tag_file.write_text(tag, encoding="utf-8")
            with open(part, "ab") as target:
                for chunk in response.iter_content(CHUNK):
                    target.write(chunk)
    except (requests.RequestException, OSError) as error:
        raise StudyError(f"{url} cannot be fetched: {error}", file=part, remedy=AGAIN) from error


def model_ids(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Hub models that a config needs here: repository -> its revision and whether its code is wanted.

    The models that this machine runs, and whatever `metrics` or an analysis names by `id`.
    """
    found: dict[str, dict[str, Any]] = {}
    for entry in config["models"]:
        if "id" in entry and "path" not in entry and entry["engine"] in ("transformers", "vllm"):
            found[entry["id"]] = {"revision": entry.get("revision"), "code": entry.get("trust_remote_code", False)}
    for entry in _entries_with_id({key: value for key, value in config.items() if key != "models"}):
        found.setdefault(entry["id"], {"revision": entry.get("revision"), "code": False})
    return found


def metric_folders(config: Mapping[str, Any]) -> dict[str, str]:
    """Metrics of a config that read files of their own -> the folder where these lie."""
    chosen = {**config["metrics"], **(config["metrics"].get("entqa_baselines") or {})}
    return {
        name: (settings or {}).get("data", metrics.module(name).DATA)
        for name, settings in chosen.items()
        if hasattr(metrics.module(name), "FILES")
    }


def table(lines: list[Fetched]) -> str:
    """The table of what was fetched: name, rows, bytes, licence, revision."""
    import pandas as pd

    columns = {"name": "benchmark or model"}
    frame = pd.DataFrame([vars(line) for line in lines]).rename(columns=columns)
    frame["rows"] = frame["rows"].map(lambda n: "" if pd.isna(n) else f"{int(n):,}")
    frame["bytes"] = frame["bytes"].map(lambda n: "" if pd.isna(n) else f"{int(n):,}")
    return frame.to_string(index=False)


def _entries_with_id(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        if isinstance(value.get("id"), str):
            yield value
        for element in value.values():
            yield from _entries_with_id(element)
    elif isinstance(value, list):
        for element in value:
            yield from _entries_with_id(element)


def _intact_receipt(folder: Path, wanted: str | None) -> dict[str, Any] | None:
    if not wanted or not (folder / RECEIPT).exists():
        return None
    receipt = read_json(folder / RECEIPT)
    if receipt.get("revision") != wanted:
        return None
    for name, digest in receipt["files"].items():
        if not (folder / name).is_file() or file_sha256(folder / name) != digest:
            with contextlib.suppress(FileNotFoundError):
                (folder / name).unlink()
            return None
    return receipt


def _verified(path: Path, entry: Any) -> str:
    """The file's sha256, once it is the one that the Hub tells: of the bytes (LFS) or of the git blob."""
    digest = file_sha256(path)
    if entry.lfs is not None:
        right = digest == entry.lfs.sha256
    else:
        data = path.read_bytes()
        right = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest() == entry.blob_id
    if not right:
        path.unlink()
        raise StudyError("arrived with other bytes than the Hub tells, and was removed", file=path, remedy=AGAIN)
    return digest


def _licence(info: Any) -> str:
    licence = getattr(info.card_data, "license", None) if info.card_data else None
    return ", ".join(licence) if isinstance(licence, list) else licence or "none stated"


def _require_space(folder: Path, needed: int) -> None:
    existing = next(parent for parent in [folder, *folder.resolve().parents] if parent.exists())
    free = shutil.disk_usage(existing).free
    if needed > free:
        raise StudyError(
            f"needs {needed / 1e9:.1f} GB, {free / 1e9:.1f} GB are free",
            file=folder,
            remedy="Free some, or name another folder as `hub_mirror`",
        )


def _member(archive: Path, member: str, scratch: Path) -> Path:
    """The member of a tar or zip archive, a file or a folder, taken out into the scratch folder."""
    _refuse_page(archive, archive.name)
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as zipped:
                names = [name for name in zipped.namelist() if name == member or name.startswith(f"{member}/")]
                zipped.extractall(scratch, names)
        else:
            with tarfile.open(archive) as tar:
                wanted = [m for m in tar if m.name.removeprefix("./") == member or m.name.startswith(f"{member}/")]
                tar.extractall(scratch, wanted, filter="data")
    except (tarfile.TarError, zipfile.BadZipFile, OSError, EOFError) as error:
        _discard(archive)
        raise StudyError(f"is no whole archive: {error}", file=archive, remedy=AGAIN) from error
    if not (scratch / member).exists():
        raise StudyError(f"the archive holds no {member}", file=archive)
    return scratch / member


def _is_page(path: Path) -> bool:
    try:
        if path.is_file():
            refuse_html(path)
    except ValueError:
        return True
    return False


def _refuse_page(path: Path, url: str) -> None:
    if _is_page(path):
        _discard(path)
        raise StudyError(f"{url} gave a web page, not data", file=path, remedy="Open the address in a browser")


def _keep(file: OriginalFile, target: Path, key: str, lock: Lock) -> None:
    if file.sha256 is None:
        lock.put(key, url=file.url, sha256=_digest(target))


def _digest(path: Path) -> str:
    return directory_sha256(path) if path.is_dir() else file_sha256(path)


def _discard(part: Path) -> None:
    for path in (part, part.with_name(f"{part.name}.etag")):
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


def _strong_tag(headers: Mapping[str, str]) -> str:
    tag = headers.get("ETag", "")
    return "" if tag.startswith("W/") else tag


def _pinned_commit(source: FileSource) -> str:
    commits = {match[0] for file in source.files if (match := COMMIT.search(file.url))}
    return ", ".join(sorted(commits)) or "locked by sha256"
