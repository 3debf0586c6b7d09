"""One case and its answers with covered and missing entities marked, as a page and as lines for a figure."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

TEMPLATE = Path(__file__).with_name("case_view.html.j2")
SHOWN = 5

COVERED, MISSING, PLAIN = "covered", "missing", "plain"


class Run(NamedTuple):
    """A piece of text of one kind: "covered", "missing" or "plain"."""

    text: str
    kind: str


def runs(side: Mapping[str, Any]) -> list[Run]:
    """The text of a side of a record's detail, cut where an entity begins or ends.

    A character that stands in several entities is covered if one of them is.
    """
    kinds = [PLAIN] * len(side["text"])
    covered = set(side["covered"])
    for entity, places in sorted(side["spans"].items(), key=lambda pair: pair[0] in covered):
        for start, end in places:
            kinds[start:end] = [COVERED if entity in covered else MISSING] * (end - start)
    pieces = itertools.groupby(zip(side["text"], kinds, strict=True), key=lambda pair: pair[1])
    return [Run("".join(character for character, _ in piece), kind) for kind, piece in pieces]


def wrapped(pieces: Sequence[Run], width: int) -> list[list[Run]]:
    """The runs in lines of at most `width` characters, broken at blanks; longer words are cut."""
    lines: list[list[Run]] = [[]]
    for word in _words(pieces):
        for start in range(0, sum(len(run.text) for run in word), width):
            part = _slice(word, start, start + width)
            used = sum(len(run.text) for run in lines[-1])
            if used and used + 1 + sum(len(run.text) for run in part) > width:
                lines.append([])
            elif used:
                last = lines[-1][-1]
                kind = last.kind if last.kind == part[0].kind else PLAIN
                lines[-1].append(Run(" ", kind))
            lines[-1] += part
    return [_merged(line) for line in lines]


def recall(side: Mapping[str, Any]) -> float | None:
    """Share of the side's entities that are covered, None where it has none."""
    total = len(side["covered"]) + len(side["missing"])
    return len(side["covered"]) / total if total else None


def telling(
    read: Callable[[], Iterable[Mapping[str, Any]]], variant: str, count: int = SHOWN
) -> list[list[Mapping[str, Any]]]:
    """The cases whose recall of the background differs most between the models, each with all its details.

    `read` gives the details, and is called twice: a study's details are too many to be held at once.
    """
    recalls: dict[str, list[float]] = {}
    for detail in read():
        recalls.setdefault(detail["item_id"], []).append(recall(detail["variants"][variant]["background"]) or 0.0)
    chosen = sorted(recalls, key=lambda item: max(recalls[item]) - min(recalls[item]), reverse=True)[:count]
    cases: dict[str, list[Mapping[str, Any]]] = {item: [] for item in chosen}
    for detail in read():
        if detail["item_id"] in cases:
            cases[detail["item_id"]].append(detail)
    return list(cases.values())


def page(cases: Sequence[Sequence[Mapping[str, Any]]], variant: str, title: str) -> str:
    """A self-contained page of the cases. All text is escaped: answers are what models wrote."""
    import jinja2

    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(title=title, variant=variant, cases=[_case(answers, variant) for answers in cases])


def _case(answers: Sequence[Mapping[str, Any]], variant: str) -> dict[str, Any]:
    return {
        "id": answers[0]["item_id"],
        "gold": answers[0]["gold"],
        "answers": [
            {
                "model": answer["model"],
                "letter": answer["letter"],
                "problem": answer["problem"],
                "sides": [
                    {"name": name, "runs": runs(side), "recall": recall(side), "missing": side["missing"]}
                    for name, side in answer["variants"][variant].items()
                ],
            }
            for answer in answers
        ],
    }


def _words(pieces: Iterable[Run]) -> Iterator[list[Run]]:
    """Words, each as runs of one or more kinds."""
    word: list[Run] = []
    for text, kind in pieces:
        for blank, piece in itertools.groupby(text, key=str.isspace):
            if not blank:
                word.append(Run("".join(piece), kind))
            elif word:
                yield word
                word = []
    if word:
        yield word


def _slice(word: Sequence[Run], start: int, end: int) -> list[Run]:
    characters = [(character, run.kind) for run in word for character in run.text][start:end]
    return [
        Run("".join(character for character, _ in piece), kind)
        for kind, piece in itertools.groupby(characters, key=lambda pair: pair[1])
    ]


def _merged(line: Sequence[Run]) -> list[Run]:
    return [
        Run("".join(run.text for run in same), kind) for kind, same in itertools.groupby(line, key=lambda r: r.kind)
    ]
