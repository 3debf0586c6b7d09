"""Coefficients as a reader sees them."""

from __future__ import annotations

import math

from .base import MISSING


def coefficient(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """A coefficient in two decimals with a true minus sign, and its interval where there is one."""
    if value is None or math.isnan(value):
        return MISSING
    text = f"{value:.2f}".replace("-", "−")
    if low is None or high is None or math.isnan(low) or math.isnan(high):
        return text
    return f"{text} [{coefficient(low)}, {coefficient(high)}]"


def p_value(value: float | None) -> str:
    """A p- or q-value in three decimals, "<.001" below."""
    if value is None or math.isnan(value):
        return MISSING
    return "<0.001" if value < 0.001 else f"{value:.3f}"
