"""Embedding entities: each distinct phrase once, kept on disk for every later job."""

from __future__ import annotations

import functools
import json
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ..encoders import directory
from ..errors import StudyError
from ..identity import content_key, directory_sha256
from ..progress import progress
from ..records import atomic, dumps

BATCH = 64
CHUNK = 2048
# No embedder reads fewer tokens, and a token is at least a character: shorter phrases need no counting.
SHORT = 128

# Raised by hand whenever an embedding could change: part of the key of every kept one.
SEMANTICS = 1


class Embedder:
    """A sentence-transformers model in `folder`. Loads at the first `encode`."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)

    @functools.cached_property
    def key(self) -> str:
        """Content key of everything that can change an embedding."""
        model = directory_sha256(self.folder, ["**/*.json", "**/*.txt", "**/*.safetensors", "**/*.bin"])
        packages = {name: version(name) for name in ("sentence-transformers", "transformers", "torch")}
        return content_key({"semantics": SEMANTICS, "model": model, **packages})

    @functools.cached_property
    def _model(self):
        from sentence_transformers import SentenceTransformer

        return SentenceTransformer(str(self.folder), local_files_only=True)

    def encode(self, phrases: Sequence[str]) -> np.ndarray:
        """Unit vectors of the phrases, float32, (len(phrases), dimension)."""
        return self._model.encode(
            list(phrases), batch_size=BATCH, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
        ).astype(np.float32)

    def truncated(self, phrases: Iterable[str]) -> list[str]:
        """The phrases of which the model reads only the beginning, sorted."""
        long = sorted(phrase for phrase in phrases if len(phrase) > SHORT)
        if not long:
            return []
        limit = self._model.get_max_seq_length() or sys.maxsize
        return [phrase for phrase in long if len(self._model.tokenizer(phrase)["input_ids"]) > limit]


def embed(embedder: Embedder, phrases: Iterable[str], store: str | Path | None = None) -> Embeddings:
    """Embeddings of the distinct phrases, computed only where `store` has none.

    `store` is a folder of files that hold some thousand phrases each, named by content, whole or not there,
    so that any number of jobs may write. Each embedder has its own folder in it.
    """
    folder = Path(store) / embedder.key if store else None
    wanted = sorted(set(phrases))
    found = dict(_kept(folder, set(wanted))) if folder else {}
    missing = [phrase for phrase in wanted if phrase not in found]
    with progress(len(missing), "embedding") as done:
        for chunk in (missing[start : start + CHUNK] for start in range(0, len(missing), CHUNK)):
            vectors = embedder.encode(chunk)
            if folder:
                Embeddings(chunk, vectors).write(folder / f"{content_key(chunk)}.npz")
            found.update(zip(chunk, vectors, strict=True))
            done.advance(len(chunk))
    return Embeddings(wanted, np.stack([found[phrase] for phrase in wanted]) if wanted else np.zeros((0, 1)))


def _kept(folder: Path, wanted: set[str]) -> Iterator[tuple[str, np.ndarray]]:
    for path in sorted(folder.glob("*.npz")):
        kept = Embeddings.read(path)
        yield from ((phrase, kept.vectors[row]) for row, phrase in enumerate(kept.phrases) if phrase in wanted)


class Embeddings:
    """Unit vectors by phrase."""

    def __init__(self, phrases: Sequence[str], vectors: np.ndarray):
        self.phrases = list(phrases)
        self.vectors = vectors
        self._rows = {phrase: row for row, phrase in enumerate(self.phrases)}

    def similarity(self, left: Sequence[str], right: Sequence[str]) -> np.ndarray:
        """Cosine of every pair, (len(left), len(right)). Raises KeyError for a phrase that was not embedded."""
        if not left or not right:
            return np.zeros((len(left), len(right)))
        rows, columns = [[self._rows[phrase] for phrase in side] for side in (left, right)]
        return self.vectors[rows] @ self.vectors[columns].T

    def write(self, path: str | Path) -> None:
        with atomic(path, "wb") as file:
            # An array of strings is as wide as its longest, and drops a trailing NUL: JSON does neither.
            np.savez(file, phrases=np.frombuffer(dumps(self.phrases).encode(), np.uint8), vectors=self.vectors)

    @classmethod
    def read(cls, path: str | Path) -> Embeddings:
        """What `write` wrote. Raises StudyError where the file is no such thing."""
        try:
            with np.load(path, allow_pickle=False) as kept:
                return cls(json.loads(kept["phrases"].tobytes()), kept["vectors"])
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            raise StudyError(str(error), file=path, remedy="Delete the file and run again") from error


def load(entry: Mapping[str, Any]) -> Embedder:
    """The embedder of a config entry: `embedded: true` for one in a Python package, else `path` of its folder."""
    return Embedder(directory(entry))
