"""Drawing a token: nucleus sampling by the inverse of the distribution function."""

from __future__ import annotations

from typing import Any

import numpy as np

# Nearly every nucleus is smaller; a larger one costs a full sort.
_USUAL_NUCLEUS = 256


def uniforms(seed: int, count: int) -> np.ndarray:
    """The row's draws in [0, 1), which depend on its seed alone; shape (count,)."""
    return np.random.default_rng(seed).random(count)


def sample(logits: Any, temperature: float, top_p: float, uniform: float) -> int:
    """A token from the tempered distribution cut to its nucleus, the smallest set of most probable tokens whose
    mass is at least `top_p` (Holtzman et al. 2020, section 3.1).

    `logits` is a tensor of shape (vocabulary,), `uniform` in [0, 1). Tokens are laid end to end in the order of
    their probability and the one on which `uniform` falls is taken, so that rounding in the logits almost
    never changes the draw.
    """
    import torch

    probabilities = torch.softmax(logits.double() / temperature, dim=-1)
    values, tokens = probabilities.topk(min(_USUAL_NUCLEUS, len(probabilities)))
    mass = values.cumsum(0)
    if mass[-1] < top_p:
        values, tokens = probabilities.sort(descending=True, stable=True)
        mass = values.cumsum(0)
    size = min(int(torch.searchsorted(mass, top_p)) + 1, len(mass))
    place = torch.searchsorted(mass[:size], uniform * mass[size - 1], right=True)
    return int(tokens[min(int(place), size - 1)])
