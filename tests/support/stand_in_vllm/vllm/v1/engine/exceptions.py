"""How vLLM tells that its process has died."""


class EngineDeadError(Exception):
    """vLLM's own has the same name and place."""
