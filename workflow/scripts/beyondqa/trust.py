"""What is not trusted: who may read a key, and weights that can run code."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .errors import StudyError
from .records import read_json
from .sources import RECEIPT

PICKLES = {".bin", ".pt", ".pth", ".th", ".ckpt", ".pkl"}
# What transformers looks for before it reads a pickle.
SAFE_WEIGHTS = ("model.safetensors", "model.safetensors.index.json")


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


def require_safetensors(directory: str | Path, entry: Mapping[str, Any], *, record: str) -> None:
    """Raise StudyError where weights are pickles, which can run code when they are read, and not allowed.

    `directory` is a model's folder, a sentence encoder's with those of its layers. `pickled_weights: true` in the
    config's entry allows pickles. Also raised where the folder holds another commit than the entry's `revision`,
    since what is trusted, and what a key names, is that one.
    """
    directory = Path(directory)
    receipt = directory / RECEIPT
    fetched = read_json(receipt)["revision"] if receipt.exists() else None
    if fetched and entry.get("revision", fetched) != fetched:
        raise StudyError(
            f"holds revision {fetched}, and the config's is {entry['revision']}",
            file=directory,
            record=record,
            remedy="Run `snakemake --cores 1 fetch_models` again, or correct the revision",
        )
    pickled = [folder for folder in (directory, *directory.glob("[0-9]_*/")) if _only_pickles(folder)]
    if pickled and entry.get("pickled_weights") is not True:
        revision = f" and `revision: {fetched}`" if fetched else ""
        raise StudyError(
            "the weights are pickles, which can run code, and no safetensors",
            file=pickled[0],
            record=record,
            remedy=f"If you trust them, say so: `pickled_weights: true`{revision} in its entry of the config",
        )


def _only_pickles(folder: Path) -> bool:
    safe = any((folder / name).is_file() for name in SAFE_WEIGHTS)
    return not safe and any(path.suffix in PICKLES for path in folder.iterdir())
