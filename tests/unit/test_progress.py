"""Progress in the log every few seconds, and a bar where somebody looks at a terminal."""

import io
import logging
import sys

import pytest

from beyondqa import progress as module
from beyondqa.progress import progress


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(module.time, "monotonic", clock)
    return clock


def test_a_line_every_few_seconds_and_one_at_the_end(clock, caplog):
    caplog.set_level(logging.INFO, "beyondqa")
    with progress(40, "model") as done:
        for _ in range(20):
            clock.now += 2.0
            done.advance(2, tokens=50)
    # 25 tokens and one item a second; a line when five seconds or more have passed since the last one.
    assert caplog.messages == [
        f"model: {seconds}/40 items, 25 tokens/s, {40 - seconds} s left" for seconds in (6, 12, 18, 24, 30, 36, 40)
    ]


def test_before_anything_is_done_the_time_left_is_unknown(clock):
    with progress(40, "model") as done:
        assert done.line(0.0) == "model: 0/40 items, 0 tokens/s, time left unknown"


@pytest.mark.parametrize("terminal", [True, False])
def test_a_bar_on_a_terminal_alone(monkeypatch, terminal):
    stderr = io.StringIO()
    stderr.isatty = lambda: terminal
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    with progress(4, "model") as done:
        done.advance(4)
    assert ("4/4" in stderr.getvalue()) is terminal
