"""Pairs put together by their reference, so that each reference is prepared once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def by_reference(pairs: Sequence[tuple[str, str]]) -> Iterator[tuple[str, list[int]]]:
    """(reference, indices of its pairs), the references in the order of their first pair."""
    groups: dict[str, list[int]] = {}
    for index, (_, reference) in enumerate(pairs):
        groups.setdefault(reference, []).append(index)
    yield from groups.items()
