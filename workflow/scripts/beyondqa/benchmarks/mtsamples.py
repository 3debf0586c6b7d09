"""MTSamples: transcribed reports, one text file each, whose first line names the specialty."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

from .base import FileSource, OriginalFile, Row
from .medical_transcriptions import BENCHMARK as TRANSCRIPTIONS

HEADER = "Medical Specialty:"
_COMMIT = "52ba5528fd1ff1c6ec4ad1d0850126836404e71f"


def _read(paths: list[Path]) -> Iterator[Row]:
    for path in sorted(paths[0].glob("*.txt")):
        content = path.read_text(encoding="utf-8-sig")
        if not content.strip():
            continue  # the source holds empty files
        first, _, rest = content.partition("\n")
        if not first.startswith(HEADER):
            raise ValueError(f"{path.name} does not begin with {HEADER!r}")
        # The keywords at the end give the specialty away.
        transcription = rest.rsplit("\nKeywords:", 1)[0].strip()
        yield {
            "file": path.stem,
            "medical_specialty": first.removeprefix(HEADER).strip(),
            "transcription": transcription,
        }


BENCHMARK = dataclasses.replace(
    TRANSCRIPTIONS,
    name="mtsamples",
    title="MTSamples",
    source=FileSource(
        folder="medical_transcriptions_mtsamples",
        files=(
            OriginalFile(
                "mtsamples_processed",
                f"https://github.com/raulista1997/benchmarkdata/archive/{_COMMIT}.tar.gz",
                member=f"benchmarkdata-{_COMMIT}/mtsamples_processed",
            ),
        ),
        read=_read,
        columns=("file", "medical_specialty", "transcription"),
        licence="none stated by the copy; sample reports of mtsamples.com",
    ),
    id_column="file",
    prompt="medical_transcriptions",
    rows="mtsamples",
    notes="Thirty of the forty specialties occur. The line of keywords is left out: it names the specialty.",
)
