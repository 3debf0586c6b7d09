"""What each step decided about each question, and the counts of it."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from ..errors import StudyError
from ..records import read_jsonl

STEPS = ("keywords", "rephrasing", "selection", "validation")

# Reasons of kept questions.
NO_KEYWORD = "no_keyword"
REPHRASED = "rephrased"
EQUAL_TO_THE_ORIGINAL = "equal_to_the_original"
SELECTED = "selected"
ONLY_VALID_ANSWER = "only_valid_answer"
# Reasons of dropped questions.
KEYWORD = "keyword"
REFUSED_BY_THE_MODEL = "refused_by_the_model"
NEITHER_VERSION = "neither_version"
NOT_THE_ONLY_VALID_ANSWER = "not_the_only_valid_answer"
RETRY_BOUND_REACHED = "retry_bound_reached"
# What is wrong with a single reply, so that the model is asked again.
EMPTY = "empty"
CUT_OFF = "cut_off"
ECHO_OF_THE_OPTIONS = "echo_of_the_options"
ANSWERED_INSTEAD_OF_REPHRASING = "answered_instead_of_rephrasing"
UNPARSED = "unparsed"

RETRIED = frozenset({EMPTY, CUT_OFF, ECHO_OF_THE_OPTIONS, ANSWERED_INSTEAD_OF_REPHRASING, UNPARSED})


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of the model: to which prompt, at which attempt (from 0), its text and what it was taken for."""

    prompt: str
    attempt: int
    text: str
    outcome: str

    @property
    def failed(self) -> bool:
        return self.outcome in RETRIED


@dataclass(frozen=True, slots=True)
class Decision:
    """One question at one step. `questions` are the open-ended texts that go on to the next step."""

    item_id: str
    category: str
    step: str
    kept: bool
    reason: str
    detail: str = ""
    questions: tuple[str, ...] = ()
    replies: tuple[Reply, ...] = ()


def to_json(decision: Decision) -> dict[str, Any]:
    return dataclasses.asdict(decision)


def read_decisions(path: str | PathLike) -> list[Decision]:
    """Decisions of one step. Raises StudyError naming file and line."""
    decisions = []
    for number, value in enumerate(read_jsonl(path), start=1):
        try:
            replies = tuple(Reply(**reply) for reply in value.pop("replies"))
            decisions.append(Decision(**{**value, "questions": tuple(value["questions"]), "replies": replies}))
        except (TypeError, KeyError, AttributeError) as error:
            raise StudyError(
                f"not a decision ({error})", file=path, record=f"line {number}", remedy="Remake the file"
            ) from error
    return decisions


def kept(decisions: Iterable[Decision]) -> dict[str, Decision]:
    """Decisions that let their question go on, by item id."""
    return {decision.item_id: decision for decision in decisions if decision.kept}


def counts(steps: Mapping[str, Sequence[Decision]]) -> list[dict[str, Any]]:
    """Rows (step, category, quantity, reason, count): what came in, what was kept, every reason, every reply.

    `quantity` is "questions" (reason "all" or "kept"), "kept" or "dropped" (one row a reason) or "replies"
    (one row an outcome). Category "all" is over the categories.
    """
    rows = []
    for step, decisions in steps.items():
        categories = sorted({decision.category for decision in decisions})
        for category in ["all", *categories]:
            chosen = [d for d in decisions if category in ("all", d.category)]
            tally = Counter({("questions", "all"): len(chosen), ("questions", "kept"): sum(d.kept for d in chosen)})
            tally.update(("kept" if d.kept else "dropped", d.reason) for d in chosen)
            tally.update(("replies", reply.outcome) for d in chosen for reply in d.replies)
            rows += [
                {"step": step, "category": category, "quantity": quantity, "reason": reason, "count": count}
                for (quantity, reason), count in tally.items()
            ]
    return rows
