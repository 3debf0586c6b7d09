"""A machine without a GPU."""


class current_platform:
    """What of vLLM's platform object the engine asks."""

    @staticmethod
    def is_cpu():
        return True
