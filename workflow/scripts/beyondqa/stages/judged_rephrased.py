"""Judgements of the models' rephrased answers."""

from __future__ import annotations

from .judged import PROMPTS, ROLE, SETTINGS, follow_up, requests

ANSWERS = "rephrased"

__all__ = ["ANSWERS", "PROMPTS", "ROLE", "SETTINGS", "follow_up", "requests"]
