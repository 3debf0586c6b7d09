"""ACI-Bench: clinical notes from whole visits, read from the organisers' CSV files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ._read import csv_rows
from .base import Benchmark, FileSource, OriginalFile, Row, present, text, where

_ADDRESS = (
    "https://raw.githubusercontent.com/wyim/aci-bench/b909b2bb9cf1d19de08df15cddde7bd0179665e4/data/challenge_data/"
)
TESTS = {
    "test1": OriginalFile(
        "clinicalnlp_taskB_test1.csv",
        _ADDRESS + "clinicalnlp_taskB_test1.csv",
        "5cc4008e68545f84913744a8e493a58bdf17ba7e1b7a0be46d6943d6bfca9471",
    ),
    "test2": OriginalFile(
        "clinicalnlp_taskC_test2.csv",
        _ADDRESS + "clinicalnlp_taskC_test2.csv",
        "599e3330a14e25a0e056aee1365ffac7ebe50058f15821eae42a5513c2bb5a4f",
    ),
    "test3": OriginalFile(
        "clef_taskC_test3.csv",
        _ADDRESS + "clef_taskC_test3.csv",
        "d3c18362a42124ea2bd1b2b4b66ba76a11bb123dfdb416471ae3b5924d1428ec",
    ),
}
ROWS_EACH = 40


def _fields(row: Row) -> dict:
    return {
        "question": text(row, "dialogue"),
        "reference": text(row, "note"),
        "metadata": present(row, "test", "dataset", "encounter_id"),
    }


def benchmark(name: str, title: str, tests: Mapping[str, OriginalFile], notes: str = "") -> Benchmark:
    """The benchmark of one or several test sets."""

    def read(paths: list[Path]) -> Iterator[Row]:
        for test, path in zip(tests, paths, strict=True):
            for row in csv_rows(path):
                yield {"test": test, **row}

    return Benchmark(
        name=name,
        title=title,
        task="note_taking",
        kind="open",
        source=FileSource(
            folder="aci_bench",
            files=tuple(tests.values()),
            read=read,
            columns=("test", "dataset", "encounter_id", "dialogue", "note"),
            licence="CC-BY-4.0",
        ),
        fields=_fields,
        expected_rows={"*": ROWS_EACH * len(tests)},
        expected_groups={test: ROWS_EACH for test in tests},
        groups=("test",),
        # All pass from the source itself; rows written by hand are of all test sets.
        filters=(where("is of the test sets taken", lambda row: row["test"] in tests),),
        id_column="encounter_id",
        prompt="aci_bench",
        rows="aci_bench",
        notes=notes,
        cite="Yim et al. 2023, ACI-Bench",
    )
