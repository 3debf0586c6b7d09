"""Reading the rows of a benchmark from where they lie, and telling what was read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .benchmarks._read import refuse_html
from .benchmarks.base import CredentialedSource, FileSource, HubSource, Row
from .errors import StudyError
from .identity import directory_sha256, file_sha256
from .records import read_json, read_jsonl

Source = HubSource | FileSource | CredentialedSource
FETCH = "Run `snakemake --cores 1 fetch` where there is a network, or correct the path in the config"
RECEIPT = ".fetched.json"  # what `fetch` leaves in a repository's folder: its revision and the files' digests


@dataclass(frozen=True)
class Opened:
    """Rows, the file or folder that errors name, and what the manifest says of it."""

    rows: Iterable[Row]
    place: str
    provenance: dict[str, Any]


def open_rows(path: str | Path, columns: tuple[str, ...]) -> Opened:
    """Rows written by hand: a JSONL file in a benchmark's source columns."""
    path = Path(path)
    _require(path, "there are no rows for this benchmark", "Write them, or leave `rows` out of the config")
    provenance = {"kind": "rows", "revision": None, "files": [_described(path, path.name)]}
    return Opened(checked(read_jsonl(path), columns, path), str(path), provenance)


def open_source(
    source: HubSource | FileSource, *, hub_mirror: str | Path, originals: str | Path, locked: Mapping[str, Any]
) -> Opened:
    """The rows of a Hub repository in the mirror or of original files. Raises StudyError naming the file."""
    if isinstance(source, HubSource):
        return _open_hub(source, Path(hub_mirror) / source.repository, locked)
    return _open_files(source, Path(originals) / source.folder, locked)


def open_credentialed(source: CredentialedSource, path: str | Path) -> Opened:
    """The rows of a file that the user holds: CSV, JSONL or Parquet, read by the source."""
    path = Path(path)
    _require(path, "the credentialed file is not there", "Correct `path` of this benchmark in the config")
    provenance = {"kind": "credentialed", "revision": None, "files": [_described(path, path.name)]}
    rows = guarded(source.read(path), path)
    return Opened(checked(rows, source.columns, path), str(path), provenance)


def existing_files(source: Source, *, hub_mirror: str, originals: str, path: str | None = None) -> list[str]:
    """The source's files that are there now: what a workflow can watch for changes. Empty where none is."""
    if isinstance(source, CredentialedSource):
        found = [Path(path)] if path else []
    elif isinstance(source, HubSource):
        found = _visible_files(Path(hub_mirror) / source.repository)
    else:
        found = [Path(originals) / source.folder / file.name for file in source.files]
    return sorted(str(file) for file in found if file.exists())


def lock_keys(source: Source) -> list[str]:
    """Names of the source's entries in the lock file: of its repository, or of each of its files."""
    if isinstance(source, HubSource):
        return [f"hub:{source.repository}"]
    if isinstance(source, FileSource):
        return [f"file:{source.folder}/{file.name}" for file in source.files]
    return []


def checked(rows: Iterable[Row], columns: Iterable[str], place: object) -> Iterator[Row]:
    """The rows, once each is sure to have the columns. Raises StudyError naming row and column."""
    wanted = set(columns)
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise StudyError(f"is a {type(row).__name__}, not a row with columns", file=place, record=f"row {number}")
        if missing := sorted(wanted - row.keys()):
            raise StudyError(
                f"lacks the column {', '.join(missing)}; it has {', '.join(map(str, row))}",
                file=place,
                record=f"row {number}",
                remedy="The source has changed: fetch the pinned revision again",
            )
        yield row


def guarded(rows: Iterable[Row], place: object) -> Iterator[Row]:
    """The rows, with a reader's complaint told as a StudyError that names the file."""
    try:
        yield from rows
    except StudyError:
        raise
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, OSError) as error:
        problem = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise StudyError(f"cannot be read: {problem}", file=place, remedy=f"The file is damaged. {FETCH}") from error


def _open_hub(source: HubSource, folder: Path, locked: Mapping[str, Any]) -> Opened:
    _require(folder, f"the mirror has no copy of {source.repository}", FETCH)
    receipt = read_json(folder / RECEIPT) if (folder / RECEIPT).exists() else {}
    wanted = source.revision or locked.get(lock_keys(source)[0], {}).get("revision")
    revision = receipt.get("revision")
    if wanted and revision and wanted != revision:
        raise StudyError(f"holds revision {revision}, the study is locked to {wanted}", file=folder, remedy=FETCH)
    builders = [_builder(source, config, folder) for config in source.configs]
    files = sorted({Path(path) for builder in builders for path in builder.config.data_files.get(source.split, ())})
    described = []
    for file in files:
        _sound(file)
        described.append(_described(file, file.resolve().relative_to(folder.resolve()).as_posix()))
    _require_digests(described, receipt.get("files", {}), folder)
    provenance = {
        "kind": "hub",
        "repository": source.repository,
        "configs": list(source.configs),
        "split": source.split,
        "revision": revision,
        "revision_locked": bool(wanted and revision),
        "files": described,
    }
    rows = guarded(_hub_rows(source, builders), folder)
    return Opened(checked(rows, source.columns, folder), str(folder), provenance)


def _builder(source: HubSource, config: str, folder: Path):
    # Set before the first import: the libraries read these once.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    os.environ.setdefault("HF_DATASETS_OFFLINE", "1")
    import datasets

    try:
        with tempfile.TemporaryDirectory() as cache:
            builder = datasets.load_dataset_builder(str(folder), config, cache_dir=cache)
    except Exception as error:  # the library raises many kinds, and its files are not ours
        raise StudyError(f"config {config!r} cannot be loaded: {error}", file=folder, remedy=FETCH) from error
    if source.split not in (builder.config.data_files or {}):
        raise StudyError(f"config {config!r} has no split {source.split!r}", file=folder, remedy=FETCH)
    return builder


def _hub_rows(source: HubSource, builders: list) -> Iterator[Row]:
    for builder in builders:
        try:
            yield from builder.as_streaming_dataset(split=source.split)
        except Exception as error:
            raise ValueError(f"split {source.split!r}: {error}") from error


def _open_files(source: FileSource, folder: Path, locked: Mapping[str, Any]) -> Opened:
    described = []
    pinned = {}
    for file, key in zip(source.files, lock_keys(source), strict=True):
        path = folder / file.name
        _require(path, "the original file is not there", FETCH)
        if path.is_file():
            _sound(path)
        described.append(_described(path, file.name))
        pinned[file.name] = file.sha256 or locked.get(key, {}).get("sha256")
    _require_digests(described, pinned, folder)
    provenance = {"kind": "files", "urls": [file.url for file in source.files], "revision": None, "files": described}
    place = folder / source.files[0].name if len(source.files) == 1 else folder
    rows = guarded(_read(source, folder), place)
    return Opened(checked(rows, source.columns, place), str(place), provenance)


def _read(source: FileSource, folder: Path) -> Iterator[Row]:
    yield from source.read([folder / file.name for file in source.files])


def _require(path: Path, problem: str, remedy: str) -> None:
    if not path.exists():
        raise StudyError(problem, file=path, remedy=remedy)


def _sound(path: Path) -> None:
    try:
        refuse_html(path)
    except ValueError as error:
        raise StudyError(str(error), file=path, remedy=f"A download went wrong. {FETCH}") from error


def _described(path: Path, name: str) -> dict[str, Any]:
    files = _visible_files(path) if path.is_dir() else [path]
    size = sum(file.stat().st_size for file in files)
    digest = directory_sha256(path) if path.is_dir() else file_sha256(path)
    return {"name": name, "bytes": size, "sha256": digest}


def _require_digests(described: list[dict[str, Any]], pinned: dict[str, str | None], folder: Path) -> None:
    for file in described:
        wanted = pinned.get(file["name"])
        if wanted and wanted != file["sha256"]:
            raise StudyError(
                f"has the sha256 {file['sha256']}, pinned is {wanted}",
                file=folder / file["name"],
                remedy=f"The file is damaged or another one. {FETCH}",
            )


def _visible_files(folder: Path) -> list[Path]:
    return sorted(
        file
        for file in folder.rglob("*")
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    )
