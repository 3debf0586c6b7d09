"""Progress of a long job: a line in the log every few seconds, a bar on a terminal."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

LOG_INTERVAL_SECONDS = 5.0


class Progress:
    """Counts items and tokens done out of `total` items."""

    def __init__(self, total: int, what: str, bar: tqdm):
        self.total, self.what = total, what
        self._bar, self._done, self._tokens = bar, 0, 0
        self._start = self._last = time.monotonic()
        self._log = logging.getLogger("beyondqa")

    def advance(self, items: int, tokens: int = 0) -> None:
        """Note that `items` more are done, `tokens` tokens among them."""
        self._done += items
        self._tokens += tokens
        self._bar.update(items)
        now = time.monotonic()
        if now - self._last >= LOG_INTERVAL_SECONDS or self._done == self.total:
            self._last = now
            self._log.info("%s", self.line(now - self._start))

    def line(self, seconds: float) -> str:
        """Items done, tokens a second and time left, `seconds` after the start."""
        rate = self._done / seconds if seconds > 0 else 0.0
        left = f"{(self.total - self._done) / rate:.0f} s left" if rate else "time left unknown"
        return f"{self.what}: {self._done}/{self.total} items, {self._tokens / max(seconds, 1e-9):.0f} tokens/s, {left}"


@contextmanager
def progress(total: int, what: str) -> Iterator[Progress]:
    """A Progress whose bar shows only on a terminal."""
    with tqdm(total=total, desc=what, disable=not sys.stderr.isatty()) as bar:
        yield Progress(total, what, bar)
