"""What several tests on real data use."""

import pytest


@pytest.fixture(scope="session")
def peer_python(root):
    """The Python of lm-evaluation-harness's own environment."""
    found = root / ".venv-lm-eval" / "bin" / "python"
    if not found.is_file():
        pytest.skip("lm-evaluation-harness's environment .venv-lm-eval is absent; `make lm-eval-environment` makes it")
    return found
