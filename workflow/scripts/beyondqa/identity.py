"""What makes two requests the same, and the seed that each one gets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def content_key(parts: Any) -> str:
    """SHA-256, 32 hex digits, of the canonical JSON of `parts`: equal parts, equal key, on any machine."""
    canonical = json.dumps(parts, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()[:32]


def derived_seed(study_seed: int, *parts: str | int) -> int:
    """A seed in [0, 2**31) that depends on every part and on nothing else: not on batch, shard or order."""
    digest = hashlib.sha256(json.dumps([study_seed, *parts]).encode("ascii")).digest()
    return int.from_bytes(digest[:8], "big") % 2**31


def file_sha256(path: str | Path) -> str:
    """SHA-256 of a file's bytes, hexadecimal."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def directory_sha256(directory: str | Path, patterns: Iterable[str] = ("*",)) -> str:
    """SHA-256 over the names and bytes of the files of a directory, hidden ones left out."""
    root = Path(directory)
    files = sorted({p for pattern in patterns for p in root.glob(pattern) if p.is_file() and p.name[0] != "."})
    total = hashlib.sha256()
    for path in files:
        total.update(f"{path.relative_to(root).as_posix()}\0{file_sha256(path)}\n".encode())
    return total.hexdigest()
