"""Fixtures that every test may use."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def pytest_configure(config):
    config.addinivalue_line("markers", "full: takes minutes; runs where BEYONDQA_FULL is set, as `make ci-full` does")


def pytest_collection_modifyitems(items):
    if os.environ.get("BEYONDQA_FULL"):
        return
    for item in items:
        if item.get_closest_marker("full"):
            item.add_marker(pytest.mark.skip(reason="takes minutes; `make ci-full` runs it"))


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
