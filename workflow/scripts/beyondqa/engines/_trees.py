"""Sequences that share their beginnings, laid out as one row whose tokens see only their own ancestors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Tree:
    """A token tree, flattened: `parents[i] < i` is what token i follows, -1 for the first.

    `before` is what all its sequences begin with and what is read beforehand: no part of `tokens`.
    `paths[k][j]` is the token after which the j-th scored token `targets[k][j]` of continuation k comes.
    """

    before: tuple[int, ...] = ()
    tokens: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    paths: list[list[int]] = field(default_factory=list)
    targets: list[Sequence[int]] = field(default_factory=list)
    _children: dict[tuple[int, int], int] = field(default_factory=dict, repr=False)

    def add(self, prompt: Sequence[int], continuation: Sequence[int]) -> None:
        """Add what must be read to score the continuation: the prompt, and all of it but its last token.

        The prompt is longer than `before`, with which it begins.
        """
        node, path = -1, []
        for token in prompt[len(self.before) :]:
            node = self._child(node, token)
        for token in continuation[:-1]:
            path.append(node)
            node = self._child(node, token)
        self.paths.append([*path, node])
        self.targets.append(continuation)

    def _child(self, node: int, token: int) -> int:
        child = self._children.setdefault((node, token), len(self.tokens))
        if child == len(self.tokens):
            self.tokens.append(token)
            self.parents.append(node)
        return child

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def is_chain(self) -> bool:
        """Whether no two continuations part and nothing was read beforehand, so that causal attention is right."""
        return not self.before and self.parents == list(range(-1, len(self) - 1))

    def depths(self) -> np.ndarray:
        """Positions of the tokens in their own sequences, from 0; shape (tokens,)."""
        depths = np.full(len(self), len(self.before), dtype=np.int64)
        for i, parent in enumerate(self.parents):
            if parent >= 0:
                depths[i] = depths[parent] + 1
        return depths

    def visible(self) -> np.ndarray:
        """visible[i, j]: token i sees token j, that is, j is i or an ancestor of it; shape (tokens, tokens)."""
        visible = np.eye(len(self), dtype=bool)
        for i, parent in enumerate(self.parents):
            if parent >= 0:
                visible[i] |= visible[parent]
        return visible
