"""Logging of one job: to its log file and, for what a user must see, to the terminal."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import StudyError

FORMAT = "%(asctime)s %(levelname)s %(message)s"


@contextmanager
def to_file(path: str | Path) -> Iterator[logging.Logger]:
    """Log to `path`. A StudyError ends the process with its one sentence; other errors keep their traceback."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    # Not opened with "w": a library that configures logging (vLLM does) closes all handlers, and one that appends
    # opens its file again.
    Path(path).unlink(missing_ok=True)
    handler = logging.FileHandler(path, mode="a", encoding="utf-8")
    handler.setFormatter(logging.Formatter(FORMAT))
    logging.captureWarnings(True)
    if not sys.stderr.isatty():
        os.environ.setdefault("TQDM_DISABLE", "1")
    logger = logging.getLogger()
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield logging.getLogger("beyondqa")
    except StudyError as error:
        logger.error("%s", error)
        sys.exit(f"Beyond-QA: {error}")
    except Exception:
        logger.error("%s", traceback.format_exc())
        raise
    finally:
        handler.close()
        logger.removeHandler(handler)
