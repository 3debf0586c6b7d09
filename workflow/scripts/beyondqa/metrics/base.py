"""What a metric is: a name that holds its variant, a direction, a floor, and a signature."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

TRANSFORMS: dict[str, Callable[[float], float]] = {"identity": lambda x: x, "exp": math.exp}


@dataclass(frozen=True)
class Metric:
    """One metric in one variant.

    `name` holds the variant as sacrebleu's signatures do: "rougeL[nostem]"; `label` is what a figure
    shows. `floor` is the value of an empty answer in the headline mean, None where there is none (the
    metric is then null for it, or gives its own value). `minimum` and `maximum` bound the values.
    Aggregates are transform(sum(weight * value) / sum(weight)), see `beyondqa.items.Score`.
    `group` puts metrics together that are correlated by construction.
    """

    name: str
    label: str
    higher_is_better: bool
    minimum: float | None
    maximum: float | None
    floor: float | None = None
    transform: str = "identity"
    group: str = ""
    headline: bool = True
    stand_in: str = ""  # what it stands in for, "" where it is the real thing


@dataclass(frozen=True)
class Values:
    """A pair metric's values by metric name, each aligned with the pairs; None where undefined.

    `reasons[i]` says why the values of pair i that are None are so. `truncated` holds, by metric name, the
    pairs of which a part was not read (an encoder's limit). `signature` tells the variant and the versions.
    """

    values: Mapping[str, Sequence[float | None]]
    reasons: Mapping[int, str] = field(default_factory=dict)
    truncated: Mapping[str, frozenset[int]] = field(default_factory=dict)
    signature: Mapping[str, Any] = field(default_factory=dict)
