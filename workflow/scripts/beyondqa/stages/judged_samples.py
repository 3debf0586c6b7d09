"""Judgements of the models' sampled answers."""

from __future__ import annotations

from .judged import PROMPTS, ROLE, SETTINGS, follow_up, requests

ANSWERS = "samples"

__all__ = ["ANSWERS", "PROMPTS", "ROLE", "SETTINGS", "follow_up", "requests"]
