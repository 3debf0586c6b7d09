"""Longest common subsequences, a machine word of cells at a time.

Bit-parallel row recurrence after Hyyrö, "Bit-parallel LCS-length computation revisited" (2004): bit j of row
i is 1 where the table's cell (i, j + 1) exceeds its left neighbour, so a cell is a count of low bits.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence


def positions(tokens: Sequence[Hashable]) -> dict[Hashable, int]:
    """Token -> bits set where it stands."""
    bits: dict[Hashable, int] = {}
    for index, token in enumerate(tokens):
        bits[token] = bits.get(token, 0) | 1 << index
    return bits


def lcs_length(tokens: Sequence[Hashable], other: Mapping[Hashable, int], other_length: int) -> int:
    """Length of the longest common subsequence of `tokens` and the sequence whose `positions` are given."""
    full = (1 << other_length) - 1
    unmatched = full
    for token in tokens:
        matches = unmatched & other.get(token, 0)
        unmatched = ((unmatched + matches) | (unmatched - matches)) & full
    return other_length - unmatched.bit_count()


def lcs_indices(tokens: Sequence[Hashable], other: Mapping[Hashable, int], other_length: int) -> list[int]:
    """Indices into `tokens` of the common subsequence that rouge-score reads out, the last first.

    Among the longest ones it is the one found by walking back from the ends: a match is taken where there is
    one, else the step goes to the larger cell, up in `tokens` where both are equal.
    """
    full = (1 << other_length) - 1
    unmatched = full
    rows = [0]
    for token in tokens:
        matches = unmatched & other.get(token, 0)
        unmatched = ((unmatched + matches) | (unmatched - matches)) & full
        rows.append(full & ~unmatched)
    found = []
    i, j = len(tokens), other_length
    while i and j and rows[i] & ((1 << j) - 1):
        here = other.get(tokens[i - 1], 0)
        if here >> (j - 1) & 1:
            found.append(i - 1)
            i, j = i - 1, j - 1
        elif (rows[i] & ((1 << (j - 1)) - 1)).bit_count() > (rows[i - 1] & ((1 << j) - 1)).bit_count():
            j -= 1
        else:
            i -= 1
    return found
