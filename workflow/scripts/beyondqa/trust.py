"""What is not trusted: who may read a key, and weights that can run code."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from .errors import StudyError


def secret(variable: str) -> str:
    """The key in the environment variable, or in the file that the variable with `_FILE` behind it names.

    Raises StudyError where neither is set, or where others than its owner may read the file.
    """
    if os.environ.get(variable):
        return os.environ[variable]
    path = os.environ.get(f"{variable}_FILE")
    if not path:
        raise StudyError(
            f"the environment variable {variable} is not set, nor is {variable}_FILE",
            remedy="Put the key into the one, or the name of a file of mode 600 that holds it into the other",
        )
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)
        key = Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise StudyError(f"cannot be read ({error.strerror})", file=path, remedy=f"Correct {variable}_FILE") from error
    if mode & 0o077:
        raise StudyError(f"has mode {mode:03o}, others can read the key", file=path, remedy=f"chmod 600 {path}")
    if not key:
        raise StudyError("is empty", file=path, remedy="Put the key into it")
    return key


def require_safetensors(directory: str | Path, *, allowed: bool, record: str) -> None:
    """Raise StudyError where a model's weights are pickles, which run code when they are read, and not allowed."""
    names = {path.suffix for path in Path(directory).iterdir()}
    if not allowed and ".safetensors" not in names and names & {".bin", ".pt", ".pth", ".ckpt"}:
        raise StudyError(
            "the weights are pickles, which can run code, and no safetensors",
            file=directory,
            record=record,
            remedy="Convert them, or trust them by name: pickled_weights: true in the model's entry",
        )
