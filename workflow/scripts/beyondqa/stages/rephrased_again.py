"""Rephrasings of the same answers by a second model: does resilience depend on who rephrases?"""

from __future__ import annotations

from .rephrased import ANSWERS, PROMPTS, ROLE, requests

SETTINGS = "rephrased_again"

__all__ = ["ANSWERS", "PROMPTS", "ROLE", "SETTINGS", "requests"]
