"""HEAD-QA in English: the examinations of 2013 to 2017 to which CareQA is set against (paper 1, appendix A.1).

It is no benchmark of the study: only its overlap with CareQA is measured.
"""

from __future__ import annotations

from os import PathLike

from ..errors import StudyError
from ..items import MultipleChoiceItem
from ..records import read_json

NAME = "head_qa"
FOLDER, FILE = "head_qa_en", "HEAD_EN.json"


def read_head_qa(path: str | PathLike) -> list[MultipleChoiceItem]:
    """All questions, their options as they stand; `ra` counts from 1. Raises StudyError naming exam and question."""
    exams = read_json(path)
    items = []
    try:
        for exam, content in exams["exams"].items():
            for question in content["data"]:
                items.append(_item(exam, content, question))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise StudyError(
            f"not HEAD-QA after {len(items)} questions ({error!r})", file=path, remedy="Fetch the file again"
        ) from error
    return items


def _item(exam: str, content: dict, question: dict) -> MultipleChoiceItem:
    answers = sorted(question["answers"], key=lambda answer: int(answer["aid"]))
    options = tuple(answer["atext"] for answer in answers)
    return MultipleChoiceItem(
        id=f"{NAME}:{exam}:{question['qid']}",
        benchmark=NAME,
        question=question["qtext"],
        options=options,
        candidates=tuple(f" {number}" for number, _ in enumerate(options, start=1)),
        gold=int(question["ra"]) - 1,
        prompt=question["qtext"],
        metadata={"category": content["category"], "year": int(content["year"])},
    )
