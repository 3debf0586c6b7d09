"""CareQA and CareQA-Open described: counts, lengths and vocabulary, open questions with their closed ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..items import Item, MultipleChoiceItem, OpenItem
from ..records import read_items
from .inputs import Inputs

if TYPE_CHECKING:
    import pandas as pd

CLOSED = "careqa"
OPEN = ("careqa_open", "careqa_open_rebuilt")
TOKENIZER = "whitespace"
UNKNOWN = "not stated"


def is_careqa(benchmark: Any) -> bool:
    """Whether a benchmark is CareQA in English, closed or open."""
    return benchmark.name == CLOSED or benchmark.name in OPEN


def read_sets(inputs: Inputs) -> dict[str, list[Item]]:
    """Items of CareQA and CareQA-Open by benchmark, those that the study has; empty ones left out."""
    sets: dict[str, list[Item]] = {}
    for item in read_items(inputs.files["careqa"]).values():
        sets.setdefault(item.benchmark, []).append(item)
    return sets


def counts(items: Sequence[Item]) -> pd.DataFrame:
    """Items by category (rows, sorted) and year (columns, sorted); UNKNOWN stands for what an item does not state."""
    import pandas as pd

    cells = pd.DataFrame(
        {name: [str(item.metadata.get(name) or UNKNOWN) for item in items] for name in ("category", "year")}
    )
    return pd.crosstab(cells["category"], cells["year"])


def token_statistics(items: Sequence[Item]) -> list[dict[str, Any]]:
    """Rows by category, "all" first: items, longest and mean question and answer, vocabulary, in whitespace tokens.

    Answers are all options of a closed question, or the reference of an open one; the vocabulary is of the distinct
    tokens of questions and answers as they stand.
    """
    groups: dict[str, list[Item]] = {"all": list(items)}
    for item in sorted(items, key=_category):
        groups.setdefault(_category(item), []).append(item)
    return [{"category": category, **_token_statistics(group)} for category, group in groups.items()]


def pairs(sets: Mapping[str, Sequence[Item]]) -> list[tuple[MultipleChoiceItem, OpenItem]]:
    """Open questions with the closed ones that they were made from, where they say which, sorted by the closed id."""
    closed = {key: item for item in sets.get(CLOSED, ()) for key in (item.id, item.metadata.get("unique_id")) if key}
    found = [
        (closed[key], item)
        for name in OPEN
        for item in sets.get(name, ())
        if (key := item.metadata.get("closed_id") or item.metadata.get("unique_id")) in closed
    ]
    return sorted(found, key=lambda pair: (pair[0].id, OPEN.index(pair[1].benchmark)))


def one_a_category(items: Sequence[Item]) -> list[Item]:
    """One item of each category, of the median question length (the first by id), sorted by category."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(_category(item), []).append(item)
    ordered = {
        category: sorted(group, key=lambda item: (len(item.question.split()), item.id))
        for category, group in groups.items()
    }
    return [ordered[category][(len(ordered[category]) - 1) // 2] for category in sorted(ordered)]


def _category(item: Item) -> str:
    return str(item.metadata.get("category") or UNKNOWN)


def _token_statistics(items: Sequence[Item]) -> dict[str, Any]:
    questions = [item.question.split() for item in items]
    answers = [answer.split() for item in items for answer in _answers(item)]
    return {
        "items": len(items),
        "question_max": max(map(len, questions)),
        "question_mean": sum(map(len, questions)) / len(questions),
        "answer_max": max(map(len, answers)),
        "answer_mean": sum(map(len, answers)) / len(answers),
        "vocabulary": len({token for tokens in (*questions, *answers) for token in tokens}),
    }


def _answers(item: Item) -> Sequence[str]:
    return item.options if isinstance(item, MultipleChoiceItem) else (item.reference,)
