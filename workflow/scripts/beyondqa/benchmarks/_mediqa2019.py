"""MEDIQA 2019, task 3: consumer health questions with ranked answers, read from the organisers' XML."""

from collections.abc import Iterator
from pathlib import Path

from ._read import xml_root
from .base import FileSource, OriginalFile, Row

ANSWER_ATTRIBUTES = ("AID", "SystemRank", "ReferenceRank", "ReferenceScore")


def _read(paths: list[Path]) -> Iterator[Row]:
    for question in xml_root(paths[0]).iter("Question"):
        answers = [
            {name: answer.attrib[name] for name in ANSWER_ATTRIBUTES} | {"AnswerText": answer.findtext("AnswerText")}
            for answer in question.iter("Answer")
        ]
        yield {"QID": question.attrib["QID"], "QuestionText": question.findtext("QuestionText"), "AnswerList": answers}


SOURCE = FileSource(
    folder="mediqa2019",
    files=(
        OriginalFile(
            "MEDIQA2019-Task3-QA-TestSet-wLabels.xml",
            "https://raw.githubusercontent.com/abachaa/MEDIQA2019/"
            "ae5d3826d6c841923b9db831159fef0f1b893593/MEDIQA_Task3_QA/MEDIQA2019-Task3-QA-TestSet-wLabels.xml",
            "df9bca894d252279f200ee78e85d871b57a94b224d75467b7fa38a4a0952cc1d",
        ),
    ),
    read=_read,
    columns=("QID", "QuestionText", "AnswerList"),
    licence="none stated (NLM shared task, asks for citation)",
)
