"""The three steps that ask the model: rephrase with two prompts, select the better version, validate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from ..benchmarks.base import lettered
from ..errors import StudyError
from ..identity import derived_seed
from ..items import MultipleChoiceItem
from ..normalisation import comparable
from ..templates import Template
from .asking import Answer, Asking, Question, ask
from .decisions import (
    EQUAL_TO_THE_ORIGINAL,
    ONLY_VALID_ANSWER,
    REFUSED_BY_THE_MODEL,
    REPHRASED,
    RETRY_BOUND_REACHED,
    SELECTED,
    Decision,
    Reply,
    kept,
)
from .replies import read_choice, read_rephrasing, read_verdict

REPHRASING_PROMPTS = ("careqa_open_rephrase_direct", "careqa_open_rephrase_oral")
SELECTION_PROMPT = "careqa_open_select"
VALIDATION_PROMPT = "careqa_open_validate"
PROMPTS = (*REPHRASING_PROMPTS, SELECTION_PROMPT, VALIDATION_PROMPT)

Templates = Mapping[str, Template]


def read_templates(paths: Iterable[str | PathLike]) -> dict[str, Template]:
    """Prompt templates by the stems of their files. Raises StudyError naming a file that is missing or broken."""
    return {Path(path).stem: Template(path) for path in paths}


def rephrase(
    items: Mapping[str, MultipleChoiceItem],
    before: Iterable[Decision],
    templates: Templates,
    answer: Answer,
    how: Asking,
) -> list[Decision]:
    """Two versions of each question that passed the keywords, or why there are fewer.

    A question goes on where at least one prompt gave a usable version; equal versions are one.
    """
    questions = []
    decisions = kept(before)
    for item_id in decisions:
        item = _item(items, item_id)
        for name in REPHRASING_PROMPTS:
            text = templates[name].fill(_fields(item))
            questions.append(Question(item_id, name, text, _rephrasing_reader(item)))
    answered = iter(ask(questions, answer, how))
    return [_rephrased(decision, [next(answered) for _ in REPHRASING_PROMPTS]) for decision in decisions.values()]


def select(
    items: Mapping[str, MultipleChoiceItem],
    before: Iterable[Decision],
    templates: Templates,
    answer: Answer,
    how: Asking,
) -> list[Decision]:
    """The better version of each question, or none. The order of the versions is drawn for each item."""
    questions = []
    decisions = kept(before)
    for item_id, decision in decisions.items():
        item = _item(items, item_id)
        versions = _in_drawn_order(decision.questions, derived_seed(how.seed, item_id, SELECTION_PROMPT))
        shown = "\n\n".join(f"Version {number}: {version}" for number, version in enumerate(versions, start=1))
        numbers = " or ".join(str(number) for number, _ in enumerate(versions, start=1))
        text = templates[SELECTION_PROMPT].fill({**_fields(item), "versions": shown, "numbers": numbers})
        questions.append(Question(item_id, SELECTION_PROMPT, text, _choice_reader(versions)))
    answered = ask(questions, answer, how)
    return [_judged(d, "selection", *result) for d, result in zip(decisions.values(), answered, strict=True)]


def validate(
    items: Mapping[str, MultipleChoiceItem],
    before: Iterable[Decision],
    templates: Templates,
    answer: Answer,
    how: Asking,
) -> list[Decision]:
    """The second pass: questions whose gold answer the model holds to be the only valid one."""
    questions = []
    decisions = kept(before)
    for item_id, decision in decisions.items():
        (question,) = decision.questions
        text = templates[VALIDATION_PROMPT].fill({"question": question, "answer": _gold(_item(items, item_id))})
        questions.append(Question(item_id, VALIDATION_PROMPT, text, _verdict_reader(question)))
    answered = ask(questions, answer, how)
    return [_judged(d, "validation", *result) for d, result in zip(decisions.values(), answered, strict=True)]


def rebuilt_rows(items: Mapping[str, MultipleChoiceItem], validated: Iterable[Decision]) -> list[dict[str, Any]]:
    """The rebuilt set in the columns of the released one (question, answer) and where each row comes from."""
    rows = []
    for item_id, decision in kept(validated).items():
        item = _item(items, item_id)
        (question,) = decision.questions
        rows.append({"id": item_id, "question": question, "answer": _gold(item), **_origin(item)})
    return rows


def _origin(item: MultipleChoiceItem) -> dict[str, Any]:
    return {name: item.metadata.get(name) for name in ("category", "year", "exam_id")}


def _item(items: Mapping[str, MultipleChoiceItem], item_id: str) -> MultipleChoiceItem:
    if item_id not in items:
        raise StudyError(
            "a decision is about an item that CareQA does not have",
            record=item_id,
            remedy="Remake the decisions from the data set at hand",
        )
    return items[item_id]


def _gold(item: MultipleChoiceItem) -> str:
    return item.options[item.gold]


def _fields(item: MultipleChoiceItem) -> dict[str, str]:
    return {"question": item.question, "options": lettered(item.options), "answer": _gold(item)}


def _rephrasing_reader(item: MultipleChoiceItem):
    return lambda generation: read_rephrasing(generation, item)


def _choice_reader(versions: Sequence[str]):
    return lambda generation: read_choice(generation, versions)


def _verdict_reader(question: str):
    return lambda generation: (read_verdict(generation), question)


def _in_drawn_order(versions: Sequence[str], draw: int) -> Sequence[str]:
    return versions if draw % 2 == 0 else versions[::-1]


def _rephrased(before: Decision, answered: Sequence[tuple[list[Reply], str]]) -> Decision:
    versions: dict[str, str] = {}
    for _, text in answered:
        if text:
            versions.setdefault(comparable(text), text)
    last = [replies[-1] for replies, _ in answered]
    if not versions:
        reason = RETRY_BOUND_REACHED if any(reply.failed for reply in last) else REFUSED_BY_THE_MODEL
    elif all(reply.outcome == EQUAL_TO_THE_ORIGINAL for reply, (_, text) in zip(last, answered, strict=True) if text):
        reason = EQUAL_TO_THE_ORIGINAL
    else:
        reason = REPHRASED
    return Decision(
        item_id=before.item_id,
        category=before.category,
        step="rephrasing",
        kept=bool(versions),
        reason=reason,
        detail="" if versions else "; ".join(f"{reply.prompt}: {reply.outcome}" for reply in last),
        questions=tuple(versions.values()),
        replies=tuple(reply for replies, _ in answered for reply in replies),
    )


def _judged(before: Decision, step: str, replies: list[Reply], question: str) -> Decision:
    last = replies[-1]
    keeps = last.outcome in (SELECTED, ONLY_VALID_ANSWER)
    return Decision(
        item_id=before.item_id,
        category=before.category,
        step=step,
        kept=keeps,
        reason=RETRY_BOUND_REACHED if last.failed else last.outcome,
        detail=last.outcome if last.failed else "",
        questions=(question,) if keeps else (),
        replies=tuple(replies),
    )


@dataclass(frozen=True, slots=True)
class Step:
    """A step that asks the model, and the stems of the prompt files that it reads."""

    decide: Callable[..., list[Decision]]
    prompts: tuple[str, ...]


STEPS = {
    "rephrasing": Step(rephrase, REPHRASING_PROMPTS),
    "selection": Step(select, (SELECTION_PROMPT,)),
    "validation": Step(validate, (VALIDATION_PROMPT,)),
}
