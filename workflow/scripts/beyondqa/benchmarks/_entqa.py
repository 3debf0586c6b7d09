"""What the benchmarks of EntQA share: a stem with lettered options, answered with an explanation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .base import LETTERS, Benchmark, Row


def benchmark(name: str, title: str, source: Any, fields: Callable[[Row], dict], **others: Any) -> Benchmark:
    """A benchmark of free explanations: greedy answers of up to 1,024 tokens and no stop string."""

    def with_stem(row: Row) -> dict:
        made = fields(row)
        return {**made, "metadata": {"question": made["question"], **made.get("metadata", {})}}

    return Benchmark(
        name=name,
        title=title,
        task="entqa",
        kind="multiple_choice",
        source=source,
        fields=with_stem,
        prompt=others.pop("prompt", "entqa"),
        stages=("greedy",),
        max_new_tokens=1024,
        stop=(),
        **others,
    )


def options_by_label(options: Mapping[str, Any], labels: str) -> tuple[str, ...]:
    """The options in the order of their labels; those that are null are none.

    Raises ValueError where one stands behind a null or the first is missing.
    """
    given = [options.get(label) for label in labels]
    told = [option for option in given if option is not None]
    if not told or given[: len(told)] != told or not all(isinstance(option, str) for option in told):
        raise ValueError(f"options are {dict(options)!r}")
    if unknown := sorted(options.keys() - set(labels)):
        raise ValueError(f"options have the label {', '.join(unknown)}")
    return tuple(told)


def index_of(label: Any, labels: str = LETTERS) -> int:
    """Position of a label. Raises ValueError where it is none."""
    found = labels.find(str(label)) if len(str(label)) == 1 else -1
    if found < 0:
        raise ValueError(f"the answer {label!r} is none of {', '.join(labels)}")
    return found
