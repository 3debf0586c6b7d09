"""CasiMedicos: the corpus that MedExpQA is built on, read from its annotated token files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ._entqa import benchmark, options_by_label
from .base import Benchmark, FileSource, OriginalFile, Row, present, text, whole_number

LABELS = "12345"
_ADDRESS = (
    "https://raw.githubusercontent.com/ixa-ehu/antidote-casimedicos/"
    "bead23e4bd1235440c4ff5b37ae7f2f81ea7c738/casimedicos-arg.tar.gz"
)
_OPTION = re.compile(r"^([1-5])- (.*)$")
_HEAD, _CASE, _ANSWER = "QUESTION TYPE:", "CLINICAL CASE:", "CORRECT ANSWER:"


def sentences(path: Path) -> Iterator[str]:
    """The sentences of a file that holds a token and its label a line, a blank line between sentences."""
    tokens: list[str] = []
    with open(path, encoding="utf-8-sig", newline="\n") as file:
        for number, line in enumerate(file, start=1):
            cells = line.split()
            if not cells:
                if tokens:
                    yield " ".join(tokens)
                tokens = []
            elif len(cells) in (2, 3):  # a third cell is the quality of an argument
                tokens.append(cells[0])
            else:
                raise ValueError(f"line {number} is no token with a label")
    if tokens:
        yield " ".join(tokens)


def documents(path: Path) -> Iterator[Row]:
    """The cases of a file: a type, a stem, five options, the number of the right one, an explanation."""
    lines: list[str] = []
    for sentence in sentences(path):
        if sentence.startswith(_HEAD) and lines:
            yield _document(lines)
            lines = []
        lines.append(sentence)
    if lines:
        yield _document(lines)


def _document(lines: list[str]) -> Row:
    head, *rest = lines
    if not head.startswith(_HEAD):
        raise ValueError(f"a case begins with {head[:40]!r}, not {_HEAD!r}")
    answer = next((index for index, line in enumerate(rest) if line.startswith(_ANSWER)), None)
    if answer is None:
        raise ValueError(f"the case {' '.join(rest)[:60]!r} has no line {_ANSWER!r}")
    stem: list[str] = []
    options: dict[str, str] = {}
    for line in rest[:answer]:
        if match := _OPTION.match(line):
            options[match[1]] = match[2]
        elif options:  # an option of several sentences
            options[max(options)] += f" {line}"
        else:
            stem.append(line)
    return {
        "type": head.removeprefix(_HEAD).strip(),
        "full_question": " ".join(stem).removeprefix(_CASE).strip(),
        "options": options,
        "correct_option": rest[answer].removeprefix(_ANSWER).strip(),
        "full_answer": " ".join(rest[answer + 1 :]),
    }


def _fields(row: Row) -> dict:
    return {
        "question": text(row, "full_question"),
        "options": options_by_label(row["options"], LABELS),
        "gold": whole_number(row, "correct_option") - 1,
        "metadata": present(row, "type", "full_answer"),
    }


def casimedicos(name: str, title: str, folder: str, sha256: str, **others) -> Benchmark:
    """The test split in one language."""
    return benchmark(
        name=name,
        title=title,
        source=FileSource(
            folder="casimedicos_medexpqa_kin",
            files=(OriginalFile(f"{folder}/test.tsv", _ADDRESS, sha256, member=f"casimedicos-arg/{folder}/test.tsv"),),
            read=lambda paths: documents(paths[0]),
            columns=("type", "full_question", "options", "correct_option", "full_answer"),
            licence="CC-BY-4.0",
        ),
        fields=_fields,
        expected_rows={"*": 117},
        groups=("type",),
        cite="Sviridova et al. 2024, CasiMedicos-Arg",
        **others,
    )
