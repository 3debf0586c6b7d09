"""Reading and writing records: JSONL, Parquet, append-only journals, atomic outputs.

JSONL here is one ASCII-escaped JSON value a line, lines ended by a newline byte and by nothing else,
so that U+2028 inside a text cuts no record and lone surrogates survive.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import logging
import os
import socket
import tempfile
import time
from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path
from typing import IO, Any

from .errors import StudyError
from .items import Item, Score, from_json, to_json

# An NFS server gives up the locks of a machine that died after its lease, 90 seconds by default.
LOCK_PATIENCE_SECONDS = 120
# No space, over the quota, over a limit on the size of files.
DISK_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

log = logging.getLogger(__name__)


@contextlib.contextmanager
def atomic(path: str | os.PathLike, mode: str = "w") -> Iterator[IO]:
    """A file that appears at `path` whole, by rename, or not at all. Raises StudyError where the disk is full."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, mode, **text) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            raise _cannot_write(error, path) from error
        raise


def _cannot_write(error: OSError, path: object) -> StudyError:
    remedy = "Free disk space and run again: answers committed so far are kept"
    return StudyError(f"cannot write ({error.strerror})", file=path, remedy=remedy)


def dumps(value: Any) -> str:
    """JSON on one line. Raises ValueError on NaN and infinities: they are no JSON."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(", ", ": "))


def write_json(path: str | os.PathLike, value: Any) -> None:
    with atomic(path) as file:
        file.write(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n")


def read_json(path: str | os.PathLike) -> Any:
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise StudyError(str(error), file=path, remedy="Remake the file or correct its path") from error


def write_jsonl(path: str | os.PathLike, values: Iterable[Any]) -> int:
    """Write the values, one a line; returns how many."""
    count = 0
    with atomic(path) as file:
        for value in values:
            file.write(dumps(value) + "\n")
            count += 1
    return count


def read_jsonl(path: str | os.PathLike) -> Iterator[Any]:
    """The values of a JSONL file. Raises StudyError naming file and line."""
    try:
        with open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield _loads(line, path, number)
    except OSError as error:
        raise StudyError(error.strerror or str(error), file=path) from error


def _loads(line: bytes, path: object, number: int) -> Any:
    try:
        return json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except ValueError as error:
        raise StudyError(
            f"not JSON ({error})", file=path, record=f"line {number}", remedy="Each line must hold one JSON value"
        ) from error


def write_records(path: str | os.PathLike, records: Iterable[Any]) -> int:
    """Write dataclass records of `beyondqa.items`."""
    return write_jsonl(path, map(to_json, records))


def read_records(path: str | os.PathLike) -> Iterator[Any]:
    """Read what `write_records` wrote, each record validated."""
    for number, value in enumerate(read_jsonl(path), start=1):
        try:
            yield from_json(value)
        except (ValueError, TypeError, AttributeError) as error:
            name = value.get("id") or value.get("item_id") if isinstance(value, dict) else None
            raise StudyError(str(error), file=path, record=name or f"line {number}") from error


def read_items(paths: Iterable[str | os.PathLike]) -> dict[str, Item]:
    """Items of several files by id. Raises StudyError where two share an id."""
    items: dict[str, Item] = {}
    for path in paths:
        for item in read_records(path):
            if item.id in items:
                raise StudyError("two items have this id", file=path, record=item.id)
            items[item.id] = item
    return items


class Journal:
    """Answers already paid for: append-only, one line a batch, so that a torn tail costs one batch.

    `directory` holds every journal of one (model, stage); this process appends to `own` alone. A job
    of another pack or shard may write beside it.
    """

    def __init__(self, directory: str | os.PathLike, own: str):
        self.directory = Path(directory)
        self.path = self.directory / own

    def read(self) -> dict[str, dict[str, Any]]:
        """Answers by content key, from every journal in the directory. A torn tail is passed over."""
        answers: dict[str, dict[str, Any]] = {}
        for path in sorted(self.directory.glob("*.jsonl")):
            with open(path, "rb") as file:
                for number, line in enumerate(file, start=1):
                    if line.endswith(b"\n"):
                        for answer in _loads(line, path, number):
                            answers.setdefault(answer["key"], answer)
        return answers

    @contextlib.contextmanager
    def open(self) -> Iterator[JournalWriter]:
        """A writer for this process's own journal; a torn tail from an earlier one is cut off first.

        Raises StudyError where another process has it open and does not let go. What is read inside the block is
        all that earlier writers left.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        with _sole_writer(self.path.with_suffix(".lock")):
            _cut_torn_tail(self.path)
            # Without a buffer: what a full disk refused would be written, and refused, again when the file is closed.
            with open(self.path, "ab", buffering=0) as file:
                yield JournalWriter(file)


class JournalWriter:
    """Appends batches; a batch is on disk when `commit` returns."""

    def __init__(self, file: FileIO):
        self._file = file

    def commit(self, answers: list[dict[str, Any]]) -> None:
        rest = dumps(answers).encode("ascii") + b"\n"
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _cannot_write(error, self._file.name) from error


@contextlib.contextmanager
def _sole_writer(path: Path) -> Iterator[None]:
    """A POSIX record lock on the file, which tells in words who holds it.

    The kernel, or the server of a shared file system, drops it when its process dies, however it dies. Unlike
    flock's, it does not live on in worker processes that an engine forked; and it is the kind that NFS hands to
    the server, so that it holds between machines. It excludes other processes, not a second writer in this one.
    """
    with open(path, "ab+", buffering=0) as file:
        end = time.monotonic() + LOCK_PATIENCE_SECONDS
        if not _try_lock(file):
            log.info("waiting for %s, which holds %s", _holder(file), path)
        while not _try_lock(file):
            if time.monotonic() > end:
                raise StudyError(
                    f"is held by {_holder(file)}, and two writers would pay twice",
                    file=path,
                    remedy="Wait for it or end it; `python workflow/scripts/resume.py` ends what a dead run left",
                )
            time.sleep(1)
        job = os.environ.get("SLURM_JOB_ID")
        name = f"process {os.getpid()} on {socket.gethostname()}" + (f", SLURM job {job}" if job else "")
        # The name is for people alone; a full disk is told where answers are written.
        with contextlib.suppress(OSError):
            file.truncate(0)
            file.write(name.encode())
        yield


def _holder(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode() or "another process"


def _try_lock(file: IO[bytes]) -> bool:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError as error:
        raise StudyError(
            f"cannot be locked ({error.strerror})",
            file=file.name,
            remedy="Name as `results` a folder on a file system with locks (Lustre: mounted with `flock`)",
        ) from error
    return True


def _cut_torn_tail(path: Path) -> None:
    with open(path, "ab+") as file:
        file.seek(0)
        file.truncate(sum(len(line) for line in file if line.endswith(b"\n")))


SCORE_COLUMNS = ("benchmark", "item_id", "model", "variant", "index", "metric", "value", "weight", "flags", "reason")


def scores_frame(scores: Iterable[Score]):
    """Scores as a long DataFrame with SCORE_COLUMNS; `flags` is a comma-joined string."""
    import pandas as pd

    rows = [
        (s.benchmark, s.item_id, s.model, s.variant, s.index, s.metric, s.value, s.weight, ",".join(s.flags), s.reason)
        for s in scores
    ]
    frame = pd.DataFrame(rows, columns=list(SCORE_COLUMNS))
    texts = dict.fromkeys(("benchmark", "item_id", "model", "variant", "metric", "flags", "reason"), "str")
    return frame.astype({**texts, "value": "float64", "weight": "float64", "index": "int64"})


def write_parquet(path: str | os.PathLike, frame, metadata: dict[str, str] | None = None) -> None:
    """Write a DataFrame atomically, with string metadata (signatures, versions) in the file's schema."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pandas(frame, preserve_index=False)
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), **(metadata or {})})
    with atomic(path, "wb") as file:
        pq.write_table(table, file)


def read_scores(paths: Iterable[str | os.PathLike]):
    """The scores of several files as one DataFrame."""
    import pandas as pd

    frames = [pd.read_parquet(path) for path in paths]
    if not frames:
        return pd.DataFrame(columns=list(SCORE_COLUMNS))
    return pd.concat(frames, ignore_index=True)


def write_csv(path: str | os.PathLike, frame) -> None:
    with atomic(path) as file:
        frame.to_csv(file, index=False, lineterminator="\n")


def read_csv(path: str | os.PathLike, **options):
    """A CSV in which "NA", "None" and "null" stay strings; only an empty cell is missing."""
    import pandas as pd

    return pd.read_csv(path, keep_default_na=False, na_values=[""], **options)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
