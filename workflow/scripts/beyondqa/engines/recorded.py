"""Answers from elsewhere, read from files: everything after generation runs on them.

Nothing is guessed: a prediction is an item's where their ids, questions or metadata are equal, and what is no
item's, several items', or said twice is counted and told.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import predictions
from ..errors import StudyError
from ..items import Generation, Item, LogLikelihood, MultipleChoiceItem
from ..normalisation import comparable
from ..predictions.base import Answer, OptionLikelihoods, Prediction, identifier
from .base import Engine

SEMANTICS = 1

# How many examples of a fault are named.
EXAMPLES = 3

log = logging.getLogger("beyondqa")


def load(entry: Mapping[str, Any]) -> Engine:
    """Refuses: recorded predictions answer no request that they were not recorded for."""
    raise StudyError(
        "recorded predictions cannot be asked anything", record=entry["name"], remedy="Take its answers from its files"
    )


@dataclass
class Join:
    """The predictions of one model for one benchmark, joined to its items.

    `by_item` has, in the items' order, the predictions of each item that has any, in the order of their index;
    `total` counts all that the files hold. The lists name identifiers that are no item's or several items', ids
    of items with a prediction that comes twice in the same words, and of items without any.
    """

    files: str
    fields: list[str]
    items: int
    total: int = 0
    by_item: dict[str, list[Prediction]] = field(default_factory=dict)
    unmatched: list[str] = field(default_factory=list)
    ambiguous: list[str] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)

    @property
    def by(self) -> str:
        """What the predictions were joined by, in words."""
        return " and ".join(self.fields)

    def faults(self) -> list[str]:
        """What was not joined, a phrase each with counts and first examples; empty where everything was."""
        told = [
            (self.unmatched, self.total, f"predictions match no item's {self.by}"),
            (self.ambiguous, self.total, f"predictions match several items' {self.by}"),
            (self.repeated, self.total, "predictions repeat another word by word, one counts"),
            (self.missing, self.items, "items have no prediction"),
        ]
        return [f"{len(names)} of {whole} {words}: {first(names)}" for names, whole, words in told if names]


def joined(entry: Mapping[str, Any], items: Sequence[Item], benchmark: str) -> Join:
    """The recorded predictions for the items of one benchmark.

    `entry["predictions"][benchmark]` has `path`, one file or several, and `format`, a module of
    `beyondqa.predictions`, which says what else it takes. They are joined by `join`: the item's "id" (the
    benchmark's name before it or not), its "question" (blanks at both ends aside), a metadata field, or several of
    these together; where the entry names no `id`, by the question. With `allow_missing` items may lack a prediction.

    Raises StudyError where a file cannot be read, no prediction is any item's, two for the same item and
    index differ, or an item lacks one that it must have.
    """
    settings = entry["predictions"].get(benchmark)
    if settings is None:
        raise StudyError(
            f"has no predictions for {benchmark}", record=entry["name"], remedy="Name their file in the config"
        )
    join = Join(", ".join(predictions.paths(settings)), predictions.join_fields(settings), len(items))
    owners = _owners(items, join)
    found: dict[str, dict[tuple[int, ...], Prediction]] = {item.id: {} for item in items}
    differing: list[str] = []
    for prediction in _read(entry["name"], settings, predictions.holds(settings, _kind(items))):
        join.total += 1
        ids = owners.get(prediction.identifier, [])
        if len(ids) != 1:
            (join.ambiguous if ids else join.unmatched).append(prediction.identifier)
        elif not (isinstance(prediction, Answer) and prediction.text is None):
            index = prediction.index if isinstance(prediction, Answer) else ()
            if found[ids[0]].setdefault(index, prediction) is not prediction:
                same = found[ids[0]][index] == prediction
                (join.repeated if same else differing).append(prediction.identifier)
    if differing:
        raise StudyError(
            f"{len(differing)} predictions differ from another for the same item ({first(differing)})",
            file=join.files,
            record=differing[0],
            remedy="Keep one an item, or name the column that counts them as index",
        )
    join.by_item = {item: [by_index[i] for i in sorted(by_index)] for item, by_index in found.items() if by_index}
    join.missing = [item for item, by_index in found.items() if not by_index]
    _require(join, items, allow_missing=settings.get("allow_missing", False))
    return join


def answers(
    entry: Mapping[str, Any], items: Sequence[Item], benchmark: str, *, variant: str = "greedy"
) -> list[Generation]:
    """The recorded answers to the items of one benchmark, item by item (see `joined`).

    With `variant` "sample" all answers to an item come, counted from 0 in the order of their index; otherwise the
    first one. An empty text is an answer. Raises StudyError where letters stand for other options than the item's.
    """
    join = _told(entry, items, benchmark)
    _require_options(items, join)
    return [
        Generation(item, benchmark, entry["name"], variant, index, answer.text, answer.finish_reason)
        for item, found in join.by_item.items()
        for index, answer in enumerate(found[: None if variant == "sample" else 1])
    ]


def likelihoods(entry: Mapping[str, Any], items: Sequence[Item], benchmark: str) -> list[LogLikelihood]:
    """The recorded log-likelihoods of the items' candidates, item by item (see `joined`).

    Raises StudyError where other texts than the item's candidates were scored, or another one is right.
    """
    join = _told(entry, items, benchmark)
    by_id = {item.id: item for item in items}
    return [
        likelihood
        for item, (options,) in join.by_item.items()
        for likelihood in _of_candidates(by_id[item], options, entry["name"], join)
    ]


def summary(entry: Mapping[str, Any], items: Sequence[Item], benchmark: str) -> dict[str, Any]:
    """How the predictions for one benchmark were joined, for the report: counts, and each fault with examples."""
    join = joined(entry, items, benchmark)
    return {
        "model": entry["name"],
        "benchmark": benchmark,
        "files": join.files,
        "joined by": join.by,
        "predictions": join.total,
        "items": join.items,
        "joined items": len(join.by_item),
        "faults": join.faults(),
    }


def first(names: Sequence[str]) -> str:
    """The first few of the names, shortened, with the number of the others."""
    more = [f"{len(names) - EXAMPLES} more"] if len(names) > EXAMPLES else []
    return ", ".join([*map(_shortened, names[:EXAMPLES]), *more])


def _shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"


def _told(entry: Mapping[str, Any], items: Sequence[Item], benchmark: str) -> Join:
    join = joined(entry, items, benchmark)
    log.info(
        "%s: %d predictions, %d of %d items of %s joined by %s",
        *(join.files, join.total, len(join.by_item), join.items, benchmark, join.by),
    )
    for fault in join.faults():
        log.warning("%s: %s", join.files, fault)
    return join


def _read(model: str, settings: Mapping[str, Any], holds: str) -> Iterator[Prediction]:
    read = predictions.get(settings.get("format", predictions.DEFAULT)).read
    for path in predictions.paths(settings):
        yield from read(Path(path), {"model_value": model, **settings}, holds)


def _kind(items: Sequence[Item]) -> str:
    return "multiple_choice" if items and isinstance(items[0], MultipleChoiceItem) else "open"


def _owners(items: Sequence[Item], join: Join) -> dict[str, list[str]]:
    """Ids of the items that each identifier can mean."""
    owners: dict[str, list[str]] = {}
    for item in items:
        for value in _identifiers(item, join):
            owners.setdefault(value, []).append(item.id)
    return owners


def _identifiers(item: Item, join: Join) -> set[str]:
    return {identifier(values) for values in itertools.product(*(_values(item, name, join) for name in join.fields))}


def _values(item: Item, name: str, join: Join) -> set[Any]:
    if name == "id":
        return {item.id, item.id.removeprefix(f"{item.benchmark}:")}
    if name == "question":
        return {item.question}
    if name not in item.metadata:
        raise StudyError(
            f"the item has no {name!r} to match predictions with",
            file=join.files,
            record=item.id,
            remedy=f"Join on one of: id, question, {', '.join(item.metadata)}",
        )
    return {str(item.metadata[name])}


def _require(join: Join, items: Sequence[Item], *, allow_missing: bool) -> None:
    if not join.by_item:
        raise StudyError(
            f"no prediction is for one of the items. {'; '.join(join.faults())}",
            file=join.files,
            remedy=f"The items have as {join.by}: {first([min(_identifiers(item, join), key=len) for item in items])}",
        )
    if join.missing and not allow_missing:
        raise StudyError(
            "; ".join(join.faults()),
            file=join.files,
            record=join.missing[0],
            remedy="Complete the file, or allow it with allow_missing: true",
        )


def _require_options(items: Sequence[Item], join: Join) -> None:
    """Letters in an answer must stand for the item's options, in its order, where the file tells for which."""
    for item in items:
        for answer in join.by_item.get(item.id, ()) if isinstance(item, MultipleChoiceItem) else ():
            if answer.options and list(map(comparable, answer.options)) != list(map(comparable, item.options)):
                raise StudyError(
                    f"shown were the options {', '.join(answer.options)}, but the item's are {', '.join(item.options)}",
                    file=join.files,
                    record=item.id,
                    remedy="Leave it out of the file, or use the version of the benchmark that was asked",
                )


def _of_candidates(
    item: MultipleChoiceItem, options: OptionLikelihoods, model: str, join: Join
) -> Iterator[LogLikelihood]:
    scored = [text.strip() for text in options.continuations]
    candidates = [text.strip() for text in item.candidates]
    if sorted(scored) != sorted(candidates) or len(set(candidates)) < len(candidates):
        raise StudyError(
            f"scored were {', '.join(scored)}, but the item's candidates are {', '.join(candidates)}",
            file=join.files,
            record=item.id,
            remedy="Only log-likelihoods of the same texts can stand beside those of this study",
        )
    right = {scored[position] for position in options.right}
    if candidates[item.gold] not in right:
        raise StudyError(
            f"right is {' or '.join(sorted(right)) or 'none'} in the file, but {candidates[item.gold]} in the item",
            file=join.files,
            record=item.id,
            remedy="Its options stand in another order, or it is another version of the benchmark",
        )
    for index, candidate in enumerate(candidates):
        position = scored.index(candidate)
        yield LogLikelihood(
            item_id=item.id,
            benchmark=item.benchmark,
            model=model,
            variant="option",
            index=index,
            token_log_probabilities=options.log_probabilities[position],
            is_greedy=options.greedy[position],
            summed=options.summed,
        )
