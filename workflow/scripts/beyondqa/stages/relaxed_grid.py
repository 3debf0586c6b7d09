"""Log-likelihoods of an item's texts after the prefixes that count for any of the settings that are compared."""

from __future__ import annotations

from .relaxed import PROMPTS, ROLE, requests

SETTINGS, ANSWERS = "relaxed_grid", "relaxed_grid_completions"

__all__ = ["ANSWERS", "PROMPTS", "ROLE", "SETTINGS", "requests"]
