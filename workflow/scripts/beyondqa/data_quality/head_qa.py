"""HEAD-QA in English: the examinations of 2013 to 2017, before CareQA's (paper 1, appendix A.1).

It is no benchmark of the study: only its overlap with CareQA is measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from ..benchmarks._read import json_value
from ..benchmarks.base import FileSource, OriginalFile, Row
from ..errors import StudyError
from ..items import MultipleChoiceItem
from ..sources import FETCH, open_source

NAME = "head_qa"


def _rows(paths: list[Path]) -> Iterator[Row]:
    for exam, content in json_value(paths[0])["exams"].items():
        for question in content["data"]:
            yield {**question, "exam": exam, "year": content["year"], "category": content["category"]}


SOURCE = FileSource(
    folder="head_qa_en",
    files=(
        OriginalFile(
            "HEAD_EN.json",
            "https://raw.githubusercontent.com/raulista1997/benchmarkdata/"
            "52ba5528fd1ff1c6ec4ad1d0850126836404e71f/HEAD_EN.json",
            "b7b55188f708a0a78ca0c1711b96890af42c0f528ff4aa6b4a29be47ee3c21c0",
        ),
    ),
    read=_rows,
    columns=("exam", "year", "category", "qid", "qtext", "ra", "answers"),
    licence="MIT",
)


def read_head_qa(originals: str | PathLike) -> list[MultipleChoiceItem]:
    """All questions with their four or five options. Raises StudyError naming the file, or exam and question."""
    opened = open_source(SOURCE, hub_mirror="", originals=originals, locked={})
    items = []
    for row in opened.rows:
        try:
            items.append(_item(row))
        except (KeyError, TypeError, ValueError) as error:
            record = f"{row['exam']}, question {row['qid']}"
            raise StudyError(f"is no question ({error})", file=opened.place, record=record, remedy=FETCH) from error
    return items


def _item(row: Row) -> MultipleChoiceItem:
    """`ra` and `aid` count from 1."""
    answers = sorted(row["answers"], key=lambda answer: int(answer["aid"]))
    options = tuple(answer["atext"] for answer in answers)
    return MultipleChoiceItem(
        id=f"{NAME}:{row['exam']}:{row['qid']}",
        benchmark=NAME,
        question=row["qtext"],
        options=options,
        candidates=tuple(f" {number}" for number, _ in enumerate(options, start=1)),
        gold=int(row["ra"]) - 1,
        prompt=row["qtext"],
        metadata={"category": row["category"], "year": int(row["year"])},
    )
