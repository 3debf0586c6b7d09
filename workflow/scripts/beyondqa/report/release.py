"""Generations and scores of a run as one archive with checksums, and the way back."""

from __future__ import annotations

import gzip
import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import StudyError
from ..identity import file_sha256
from ..records import atomic

SUMS, ABOUT = "SHA256SUMS", "release.json"


def pack(files: Sequence[str], root: str | Path, about: Mapping[str, Any], archive: str | Path) -> None:
    """Write a gzipped tar of `files` (below `root`, named relative to it), SHA256SUMS and release.json.

    Equal files give an equal archive: no dates, owners or machine names are in it.
    """
    members = {os.path.relpath(path, root): Path(path) for path in sorted(files)}
    sums = "".join(f"{file_sha256(path)}  {name}\n" for name, path in members.items())
    texts = {SUMS: sums, ABOUT: json.dumps(about, indent=2, sort_keys=True) + "\n"}
    with (
        atomic(archive, "wb") as raw,
        gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name, text in texts.items():
            content = text.encode("utf-8")
            tar.addfile(_member(name, len(content)), io.BytesIO(content))
        for name, path in members.items():
            with open(path, "rb") as file:
                tar.addfile(_member(name, path.stat().st_size), file)


def unpack(archive: str | Path, wanted: Sequence[str], root: str | Path) -> None:
    """Put the wanted files (below `root`) from an archive or its unpacked folder in their places, each by rename.

    Raises StudyError where a file is not in the release or has other bytes than its checksum says; nothing is
    put in place then.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = _opened(Path(archive), Path(scratch))
        sums = _checksums(folder)
        names = {os.path.relpath(path, root): path for path in wanted}
        for name in names:
            if name not in sums:
                raise StudyError(
                    "is not in the release",
                    file=archive,
                    record=name,
                    remedy="Use the config that the release was made with",
                )
            if not (folder / name).is_file() or file_sha256(folder / name) != sums[name]:
                raise StudyError(
                    "differs from its checksum", file=archive, record=name, remedy="Fetch the release again"
                )
        for name, path in names.items():
            with open(folder / name, "rb") as source, atomic(path, "wb") as target:
                shutil.copyfileobj(source, target)


def _opened(archive: Path, scratch: Path) -> Path:
    if archive.is_dir():
        return archive
    try:
        with tarfile.open(archive, "r:gz") as tar:
            tar.extractall(scratch, filter="data")
    except (OSError, tarfile.TarError) as error:
        remedy = "Correct from_release in the config"
        raise StudyError(f"is no release ({error})", file=archive, remedy=remedy) from error
    return scratch


def _checksums(folder: Path) -> dict[str, str]:
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise StudyError(f"has no {SUMS}", file=folder, remedy="Correct from_release in the config") from error
    return {name: digest for digest, name in (line.split("  ", 1) for line in lines)}


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = size, 0o644, 0
    return member
