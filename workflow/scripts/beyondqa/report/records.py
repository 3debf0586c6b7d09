"""A sample of records for the drill-down from a table's cell, bounded in number and size."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..identity import derived_seed
from ..items import Generation, Item, LogLikelihood, MultipleChoiceItem, from_json
from ..metrics.base import TRANSFORMS
from ..records import read_items
from ..statistics.scores import read_metrics

if TYPE_CHECKING:
    import pandas as pd

# Items a benchmark, the same for every model, so that answers can be compared.
ITEMS = 3
# Longest text shown, in characters.
LONGEST = 2000
_ITEM_ID = re.compile(rb'"item_id": ("(?:[^"\\]|\\.)*")')


def sample(
    datasets: Sequence[str | os.PathLike],
    answers: Sequence[str | os.PathLike],
    scores: Sequence[str | os.PathLike],
    entities: Sequence[str | os.PathLike],
    *,
    seed: int,
) -> dict[str, Any]:
    """`items` (id -> what was asked, with the reference or the options) and `records`, one an (item, model):
    the answer or the options' log-likelihoods, every metric's value for it, and EntQA's covered and missing
    entities.

    `answers` are files of generations and of log-likelihoods, `entities` EntQA's detail files. Three items of
    each benchmark are chosen by the seed; texts longer than LONGEST are cut and say so.
    """
    items = chosen(read_items(datasets), seed)
    records: dict[tuple[str, str], dict[str, Any]] = {}
    for entry in _lines(answers, items):
        answer = from_json(entry)
        record = records.setdefault((answer.item_id, answer.model), {"item": answer.item_id, "model": answer.model})
        _add_answer(record, answer)
    for item, model, name, value, flags in _values(scores, list(items)):
        record = records.setdefault((item, model), {"item": item, "model": model})
        record.setdefault("values", {})[name] = value
        record["flags"] = sorted({*record.get("flags", ()), *flags})
    for detail in _lines(entities, items):
        record = records.get((detail["item_id"], detail["model"]))
        if record is not None:
            record["entities"] = _entities(detail)
    order = {item: i for i, item in enumerate(items)}
    return {
        "items": {name: _asked(item) for name, item in items.items()},
        "records": sorted(records.values(), key=lambda record: (order[record["item"]], record["model"])),
    }


def chosen(items: Mapping[str, Item], seed: int) -> dict[str, Item]:
    """ITEMS items of each benchmark, by a seeded order of their ids."""
    by_benchmark: dict[str, list[Item]] = {}
    for item in items.values():
        by_benchmark.setdefault(item.benchmark, []).append(item)
    return {
        item.id: item
        for group in by_benchmark.values()
        for item in sorted(group, key=lambda item: derived_seed(seed, "records", item.id))[:ITEMS]
    }


def _lines(paths: Iterable[str | os.PathLike], items: Mapping[str, Item]) -> Iterator[dict[str, Any]]:
    """JSON lines about the chosen items; the rest are not parsed, since there may be a great many."""
    wanted = {json.dumps(name).encode("ascii") for name in items}
    for path in paths:
        with open(path, "rb") as file:
            for line in file:
                found = _ITEM_ID.search(line)
                if found and found.group(1) in wanted:
                    yield json.loads(line)


def _add_answer(record: dict[str, Any], answer: Generation | LogLikelihood) -> None:
    if isinstance(answer, Generation):
        record["answer"] = _cut(answer.text)
        record["finish"] = answer.finish_reason
    elif answer.variant == "option":
        record.setdefault("options", {})[answer.index] = round(answer.total, 4)


def _values(paths: Sequence[str | os.PathLike], names: list[str]) -> Iterator[tuple[str, str, str, Any, list[str]]]:
    metrics = read_metrics(paths)
    for row in _score_rows(paths, names).itertuples():
        metric = metrics[row.metric]
        value = None if row.value != row.value else round(TRANSFORMS[metric.transform](row.value), 5)
        name = row.metric if row.index_ == 0 else f"{row.metric} #{row.index_}"
        yield (
            row.item_id,
            row.model,
            name,
            row.reason if value is None else value,
            [f for f in row.flags.split(",") if f],
        )


def _score_rows(paths: Sequence[str | os.PathLike], names: list[str]) -> pd.DataFrame:
    import pandas as pd

    parts = [pd.read_parquet(path, filters=[("item_id", "in", names)]) for path in paths] if names else []
    parts = [part for part in parts if len(part)]
    return pd.concat(parts, ignore_index=True).rename(columns={"index": "index_"}) if parts else pd.DataFrame()


def _entities(detail: Mapping[str, Any]) -> dict[str, list[str]]:
    """Covered and missing entities of the first variant, which is the headline."""
    variants = list(detail["variants"].values())
    sides = variants[0] if variants else {}
    return {
        f"{state} ({side})": sorted(sides[side][state])
        for side in ("background", "question")
        if side in sides
        for state in ("covered", "missing")
    }


def _asked(item: Item) -> dict[str, Any]:
    shown = {"benchmark": item.benchmark, "prompt": _cut(item.prompt)}
    if isinstance(item, MultipleChoiceItem):
        return {**shown, "options": [_cut(option) for option in item.options], "gold": item.gold}
    return {
        **shown,
        "reference": _cut(item.reference),
        "must_have": list(item.must_have),
        "nice_to_have": list(item.nice_to_have),
    }


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} [… {len(text) - LONGEST} characters more]"
