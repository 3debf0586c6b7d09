"""BioRED: how two entities of an abstract are related, among eight types."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from ._read import json_value
from .base import Benchmark, FileSource, OriginalFile, Row, position, text

# Types with their counts in the test split.
RELATIONS = {
    "Association": 635,
    "Positive_Correlation": 325,
    "Negative_Correlation": 171,
    "Cotreatment": 14,
    "Bind": 9,
    "Comparison": 6,
    "Drug_Interaction": 2,
    "Conversion": 1,
}
LABELS = tuple(RELATIONS)


def _read(paths: list[Path]) -> Iterator[Row]:
    for document in json_value(paths[0])["documents"]:
        entities = _entities(document)
        for relation in document["relations"]:
            about = relation["infons"]
            first, second = (entities[about[end]] for end in ("entity1", "entity2"))
            yield {
                "id": f"{document['id']}-{relation['id']}",
                "text": " ".join(passage["text"] for passage in document["passages"]),
                "entity1": first[0],
                "entity1_type": first[1],
                "entity2": second[0],
                "entity2_type": second[1],
                "relation": about["type"],
            }


def _entities(document: dict) -> dict[str, tuple[str, str]]:
    """Identifier -> its most frequent mention (the earliest of equals) and its type."""
    mentions: dict[str, Counter] = {}
    types: dict[str, str] = {}
    for passage in document["passages"]:
        for annotation in passage["annotations"]:
            about = annotation["infons"]
            # A mention of several entities names them all, comma between.
            for identifier in {about["identifier"], *about["identifier"].split(",")}:
                mentions.setdefault(identifier, Counter())[annotation["text"]] += 1
                types.setdefault(identifier, about["type"])
    return {identifier: (counts.most_common(1)[0][0], types[identifier]) for identifier, counts in mentions.items()}


def _fields(row: Row) -> dict:
    gold = position(row, "relation", LABELS)
    first, second = text(row, "entity1"), text(row, "entity2")
    return {
        "question": f"How are {first} and {second} related?",
        "context": text(row, "text"),
        "options": tuple(label.replace("_", " ") for label in LABELS),
        "gold": gold,
        "metadata": {
            "relation": LABELS[gold],
            "entity1": first,
            "entity1_type": text(row, "entity1_type"),
            "entity2": second,
            "entity2_type": text(row, "entity2_type"),
        },
    }


BENCHMARK = Benchmark(
    name="biored",
    title="BioRED",
    task="relation_extraction",
    kind="multiple_choice",
    source=FileSource(
        folder="biored",
        files=(
            OriginalFile(
                "Test.BioC.JSON",
                "https://raw.githubusercontent.com/ndlongvn/BioRED-NER-RE/"
                "637e02c9746de045ef56dbf543d77602783d63d9/RE%20BioRED/data/BioRED/Test.BioC.JSON",
                "928cde234dbcd75d35241d0d0bda08218564607628cbc958d6d1eea483511a27",
            ),
        ),
        read=_read,
        columns=("id", "text", "entity1", "entity1_type", "entity2", "entity2_type", "relation"),
        licence="public domain (NCBI)",
    ),
    fields=_fields,
    expected_rows={"*": sum(RELATIONS.values())},
    expected_groups=RELATIONS,
    groups=("relation",),
    id_column="id",
    notes="The authors' prompt is unpublished: ours shows the abstract, the two entities by their most frequent "
    "mention, and the eight types.",
    cite="Luo et al. 2022, BioRED",
)
