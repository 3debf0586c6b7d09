"""The plan as text and as a page."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from .estimates import totals


def as_text(frames: Mapping[int, Any], remarks: Sequence[str]) -> str:
    """The plan for a terminal."""
    parts = [frames[1].to_string(index=False, formatters=_FORMATTERS), "The study at 1, 10 and 100 times its size:"]
    return "\n\n".join([*parts, totals(frames).to_string(index=False, formatters=_FORMATTERS), *remarks])


def as_html(name: str, frames: Mapping[int, Any], remarks: Sequence[str]) -> str:
    """The plan as one page without scripts; every name is escaped."""
    options = {"index": False, "formatters": _FORMATTERS, "border": 0, "escape": True}
    name = html.escape(name)
    listed = "".join(f"<li>{html.escape(remark)}</li>" for remark in remarks)
    return (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Plan of {name}</title>'
        "<style>body{font-family:sans-serif}td,th{padding:.2em .6em;text-align:right}</style></head><body>"
        f"<h1>Plan of {name}</h1>{frames[1].to_html(**options)}"
        f"<h2>At 1, 10 and 100 times its size</h2>{totals(frames).to_html(**options)}"
        f"<h2>What the figures rest on</h2><ul>{listed}</ul></body></html>\n"
    )


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _amount(value: float) -> str:
    return f"{value:,.2f}"


_COUNTS = ("jobs", "finished", "items", "requests", "tokens_read", "tokens_written", "scale")
_FORMATTERS = {
    **dict.fromkeys(_COUNTS, _count),
    **dict.fromkeys(("hours", "gpu_hours", "cost", "disk_gb"), _amount),
}
