"""What the engines share that run a model from a local directory."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..errors import StudyError
from ..identity import content_key, directory_sha256
from ..records import read_json
from ..trust import require_safetensors
from ._tokens import Ids, Tokens
from .base import Engine, Prepared, Request

BATCH_TOKENS = 4096


class LocalEngine(Engine):
    """An engine whose entry has `directory`, an ordinary model folder. Subclasses name their `packages`."""

    packages: tuple[str, ...]
    default_dtype = "float32"
    # Tokens of the model's own length that a server keeps for what it generates after a prompt that it scores.
    spare_tokens = 0

    @functools.cached_property
    def directory(self) -> Path:
        directory = Path(self.entry["directory"])
        if not (directory / "config.json").is_file():
            raise StudyError(
                "no model is here", file=directory, record=self.model, remedy="Fetch it or correct its path"
            )
        require_safetensors(directory, self.entry, record=self.model)
        return directory

    @property
    def dtype(self) -> str:
        return self.entry.get("dtype") or self.default_dtype

    @property
    def batch_tokens(self) -> int:
        return self.entry.get("batch_tokens") or BATCH_TOKENS

    @functools.cached_property
    def context(self) -> int:
        """Tokens that the model may read: the entry's `context`, at most what the model was made for."""
        config = read_json(self.directory / "config.json")
        config = config.get("text_config") or config
        own = config.get("max_position_embeddings") or config.get("n_positions")
        limits = [limit for limit in (own and own - self.spare_tokens, self.entry.get("context")) if limit]
        if not limits:
            raise StudyError(
                "does not tell its longest context",
                file=self.directory / "config.json",
                remedy="Set the model's context",
            )
        return min(limits)

    @functools.cached_property
    def tokenizer(self) -> Any:
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(self.directory, **self.loading)

    @property
    def loading(self) -> dict[str, Any]:
        """What every from_pretrained gets: nothing is fetched, no foreign code is run unless the entry says so."""
        return {"local_files_only": True, "trust_remote_code": bool(self.entry.get("trust_remote_code"))}

    @functools.cached_property
    def _identity(self) -> dict[str, Any]:
        if self.entry.get("id") and self.entry.get("revision"):
            model = {"model": self.entry["id"], "revision": self.entry["revision"]}
        else:
            model = {"model_sha256": directory_sha256(self.directory)}
        return {
            **model,
            "dtype": self.dtype,
            "quantization": self.entry.get("quantization"),
            "packages": {package: version(package) for package in self.packages},
        }

    def identity(self) -> dict[str, Any]:
        return self._identity

    @functools.cached_property
    def tokens(self) -> Tokens:
        return Tokens(self.tokenizer, self.context)

    def text(self, ids: Sequence[int], stops: Sequence[str] = ()) -> str:
        """Generated tokens as text without special tokens, up to where the first stop string begins."""
        text = self.tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return text[: min((place for stop in stops if (place := text.find(stop)) >= 0), default=None)]

    def prepare(self, requests: Sequence[Request]) -> list[Prepared]:
        return self.tokens.prepare(requests, self._key)

    def _key(self, request: Request, prompt: Ids, continuation: Ids) -> str:
        key = self.key(request, prompt, continuation)
        # Where a text is read in windows, their size is part of the question.
        return key if len(prompt) + len(continuation) - 1 <= self.context else content_key([key, self.context])
