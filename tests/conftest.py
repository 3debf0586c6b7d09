"""Fixtures that every test may use."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """Real benchmark rows and recorded system outputs, which are no part of the project.

    Tests that need them skip where they are absent; on CI their absence is a failure.
    """
    folder = Path(os.environ.get("BEYONDQA_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        reason = "the folder with real test data is absent; BEYONDQA_SHARED names it"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return folder
