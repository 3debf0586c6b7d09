"""From the rows of a source to the items of a benchmark, and the manifest that explains them."""

from __future__ import annotations

import itertools
import random
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import benchmarks
from .benchmarks import Benchmark
from .benchmarks.base import LETTERS, CredentialedSource, Loaded, Row, lettered
from .errors import StudyError
from .identity import content_key, derived_seed, file_sha256
from .items import Item, MultipleChoiceItem, OpenItem
from .sources import Opened, open_credentialed, open_rows, open_source
from .templates import Template


def load(
    name: str,
    *,
    hub_mirror: str | Path,
    originals: str | Path,
    seed: int,
    prompt: str | Path,
    rows: str | Path | None = None,
    path: str | Path | None = None,
    limit: int | None = None,
    few_shot: int = 0,
    expected_rows: int | None = None,
    locked: Mapping[str, Any] | None = None,
) -> Loaded:
    """The benchmark's items and manifest.

    `prompt` is the file of its template; `rows` a folder of hand-written rows that replace the source;
    `path` the file of a credentialed source: without it there are no items, and the manifest says why.
    `limit` keeps the first so many items after the filters. `expected_rows` is what a mirror that holds
    a part of the source declares; `locked` are the source's entries of the lock file.
    Raises StudyError naming file, record and remedy.
    """
    benchmark = benchmarks.get(name)
    opened = _open(benchmark, hub_mirror, originals, rows, path, locked or {})
    if opened is None:
        return Loaded([], _unavailable(benchmark))
    by_hand = rows is not None

    counted = _Counted(opened.rows)
    stream: Iterable[Row] = counted
    counts = [("", counted)]
    for step in benchmark.filters:
        if step.of_source and by_hand:
            continue
        counted = _Counted(step.keep(stream))
        counts.append((step.name, counted))
        stream = counted
    try:
        kept = list(benchmark.prepare(list(stream), seed) if benchmark.prepare else stream)
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise StudyError(f"cannot be prepared: {error}", file=opened.place) from error
    read = counts[0][1].count
    expected = None if by_hand else _expected_rows(benchmark, opened)
    _check_rows(read, expected, expected_rows, opened.place)

    template = Template(prompt)
    parts, duplicates = _parts(benchmark, kept, opened.place)
    if not parts:
        raise StudyError(
            "no row is left after the filters", file=opened.place, remedy="Look at the benchmark's filters"
        )
    whole = not by_hand and expected_rows in (None, expected)
    if whole:
        _check_groups(benchmark, parts, opened.place)
    # All are made, so that a broken one stops the run whatever the limit.
    every = [_item(benchmark, part, template, _shots(parts, part, few_shot, seed), opened.place) for part in parts]
    items = every if limit is None else every[:limit]
    reasons = _partial_reasons(read, expected, len(items), len(parts), by_hand)
    manifest = {
        **_identity(benchmark),
        "available": True,
        "source": opened.provenance,
        "rows": read,
        "expected_rows": expected,
        "filters": [
            {"name": name, "before": before.count, "after": after.count}
            for (_, before), (name, after) in itertools.pairwise(counts)
        ],
        "items": len(items),
        "limit": limit,
        "partial": bool(reasons),
        "partial_reason": "; ".join(reasons),
        "duplicate_rows": duplicates,
        "counts": _counts(benchmark, items),
        "text_lengths": _lengths(items),
        "prompt": {"file": Path(prompt).name, "sha256": file_sha256(prompt), "few_shot": few_shot},
        "seed": seed,
    }
    return Loaded(items, manifest)


class _Counted:
    """An iterable that counts what goes through it."""

    def __init__(self, rows: Iterable[Row]):
        self._rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[Row]:
        for row in self._rows:
            self.count += 1
            yield row


def _open(benchmark: Benchmark, hub_mirror, originals, rows, path, locked) -> Opened | None:
    source = benchmark.source
    if rows is not None:
        return open_rows(Path(rows) / f"{benchmark.rows}.jsonl", source.columns)
    if isinstance(source, CredentialedSource):
        return open_credentialed(source, path) if path else None
    return open_source(source, hub_mirror=hub_mirror, originals=originals, locked=locked)


def _identity(benchmark: Benchmark) -> dict[str, Any]:
    return {
        "benchmark": benchmark.name,
        "title": benchmark.title,
        "task": benchmark.task,
        "kind": benchmark.kind,
        "language": benchmark.language,
        "licence": benchmark.source.licence,
        "notes": benchmark.notes,
        "cite": benchmark.cite,
    }


def _unavailable(benchmark: Benchmark) -> dict[str, Any]:
    reason = f"not available: needs {benchmark.source.access}"
    return {
        **_identity(benchmark),
        "available": False,
        "reason": reason,
        "items": 0,
        "partial": False,
        "partial_reason": "",
    }


def _expected_rows(benchmark: Benchmark, opened: Opened) -> int | None:
    revision = opened.provenance["revision"]
    return benchmark.expected_rows.get(revision, benchmark.expected_rows.get("*"))


def _check_rows(read: int, expected: int | None, declared: int | None, place: str) -> None:
    wanted = declared if declared is not None else expected
    if wanted is not None and read != wanted:
        raise StudyError(
            f"holds {read} rows, expected are {wanted}",
            file=place,
            remedy="Fetch the pinned revision again; a mirror that holds a part on purpose says so with "
            "`expected_rows` of the benchmark in the config",
        )


def _check_groups(benchmark: Benchmark, parts: Sequence[dict[str, Any]], place: str) -> None:
    if not benchmark.expected_groups:
        return
    found = Counter(" / ".join(str(part["metadata"].get(name)) for name in benchmark.groups) for part in parts)
    for group in sorted({*benchmark.expected_groups, *found}):
        if found[group] != benchmark.expected_groups.get(group, 0):
            raise StudyError(
                f"holds {found[group]} items of {group}, expected are {benchmark.expected_groups.get(group, 0)}",
                file=place,
                remedy="Fetch the pinned revision again",
            )


def _partial_reasons(read: int, expected: int | None, shown: int, kept: int, by_hand: bool) -> list[str]:
    reasons = []
    if by_hand:
        reasons.append("rows written by hand")
    if expected is not None and read < expected:
        reasons.append(f"the mirror holds {read} of {expected} rows")
    if shown < kept:
        reasons.append(f"the first {shown} of {kept} items")
    return reasons


def _parts(benchmark: Benchmark, rows: Sequence[Row], place: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The items' fields with their ids, and the ids of rows that repeat an earlier one."""
    parts: list[dict[str, Any]] = []
    seen: Counter[str] = Counter()
    duplicates = []
    for number, row in enumerate(rows, start=1):
        own = row.get(benchmark.id_column) if benchmark.id_column else None
        key = content_key({name: row[name] for name in benchmark.source.columns})[:12] if own is None else str(own)
        record = f"row {number}" if own is None else f"{benchmark.name}:{own}"
        seen[key] += 1
        if seen[key] > 1:
            if own is not None:
                raise StudyError("two rows have this id", file=place, record=record, remedy="Remove one of them")
            key = f"{key}-{seen[key]}"
            duplicates.append(f"{benchmark.name}:{key}")
        try:
            fields = benchmark.fields(row)
            if "options" in fields and not 0 <= fields["gold"] < len(fields["options"]):
                raise ValueError(f"gold index {fields['gold']} is out of range for {len(fields['options'])} options")
        except KeyError as error:
            raise StudyError(f"lacks {error}", file=place, record=record, remedy="Correct the row") from error
        except (ValueError, TypeError, IndexError, AttributeError) as error:
            raise StudyError(str(error), file=place, record=record, remedy="Correct the row") from error
        parts.append({"metadata": {}, **fields, "id": f"{benchmark.name}:{key}"})
    return parts, duplicates


def _item(
    benchmark: Benchmark, part: Mapping[str, Any], template: Template, shots: Sequence[Mapping[str, Any]], place: str
) -> Item:
    fields = dict(part)
    if benchmark.kind == "multiple_choice":
        fields["candidates"] = _candidates(part)
    examples = [(_values(shot), _answer(shot)) for shot in shots]
    fields["prompt"] = template.fill(_values(part), examples)
    try:
        cls = MultipleChoiceItem if benchmark.kind == "multiple_choice" else OpenItem
        return cls(benchmark=benchmark.name, **fields)
    except ValueError as error:
        raise StudyError(str(error), file=place, record=part["id"], remedy="Correct the row") from error


def _values(part: Mapping[str, Any]) -> dict[str, Any]:
    values = {**part["metadata"], **{name: value for name, value in part.items() if name not in ("metadata", "id")}}
    if "options" in part:
        values["option_list"] = "; ".join(part["options"])
        if len(part["options"]) <= len(LETTERS):
            values["choices"] = lettered(part["options"])
    return values


def _candidates(part: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(part.get("candidates") or (f" {letter}" for letter in LETTERS[: len(part["options"])]))


def _answer(part: Mapping[str, Any]) -> str:
    return _candidates(part)[part["gold"]] if "options" in part else f"\n{part['reference']}"


def _shots(parts: Sequence[dict], part: dict, count: int, seed: int) -> list[dict[str, Any]]:
    """Worked examples for one item: others of the same benchmark, drawn with a seed of its own."""
    if not count:
        return []
    others = [other for other in parts if other["id"] != part["id"]]
    if len(others) < count:
        raise StudyError(f"has {len(others)} other items, too few for {count} worked examples", record=part["id"])
    return random.Random(derived_seed(seed, "few_shot", part["id"])).sample(others, count)


def _counts(benchmark: Benchmark, items: Sequence[Item]) -> dict[str, dict[str, int]]:
    counts = {name: _tally(item.metadata.get(name) for item in items) for name in benchmark.groups}
    if benchmark.kind == "multiple_choice":
        counts["gold"] = _tally(LETTERS[item.gold] if item.gold < len(LETTERS) else item.gold for item in items)
    return counts


def _tally(values: Iterable[Any]) -> dict[str, int]:
    return dict(sorted(Counter(map(str, values)).items()))


def _lengths(items: Sequence[Item]) -> dict[str, dict[str, float]]:
    """Whitespace-separated words of each text field."""
    lengths = {}
    for name in ("context", "question", "reference", "prompt"):
        words = [len(getattr(item, name).split()) for item in items if getattr(item, name, "")]
        if words:
            lengths[name] = {
                "n": len(words),
                "minimum": min(words),
                "median": statistics.median(words),
                "mean": statistics.fmean(words),
                "maximum": max(words),
            }
    return lengths
