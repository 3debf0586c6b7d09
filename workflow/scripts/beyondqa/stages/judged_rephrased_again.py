"""Judgements of the answers that the second rephraser rephrased."""

from __future__ import annotations

from .judged import PROMPTS, ROLE, SETTINGS, follow_up, requests

ANSWERS = "rephrased_again"

__all__ = ["ANSWERS", "PROMPTS", "ROLE", "SETTINGS", "follow_up", "requests"]
