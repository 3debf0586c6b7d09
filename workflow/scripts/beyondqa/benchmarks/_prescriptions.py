"""What both prescription benchmarks share: reading the records, and options drawn once with a seed."""

from __future__ import annotations

import ast
import dataclasses
import random
import re
from collections.abc import Callable, Iterable, Sequence

from ..identity import content_key, derived_seed
from .base import Benchmark, HubSource, Row, text, where

OPTIONS = 4
# Blocks of the Indic scripts that the authors leave out: Devanagari, Bengali, Gurmukhi, Gujarati,
# Tamil, Telugu, Kannada, Malayalam.
INDIC = re.compile("[\u0900-\u09ff\u0a00-\u0aff\u0b80-\u0bff\u0c00-\u0cff\u0d00-\u0d7f]")
UNTOLD = {"", "na", "n/a", "not specified", "not provided", "none"}
TEMPLATE_ANSWER = "[medicine name]"  # left in the place of a name by whatever filled the records


@dataclasses.dataclass(frozen=True)
class Medicine:
    """A listed medicine: its name, and how often and how long it is taken, each "" where untold."""

    name: str
    frequency: str = ""
    duration: str = ""

    def __str__(self) -> str:
        return ", ".join(part for part in (self.name, self.frequency, self.duration) if part)


def record(row: Row) -> dict:
    """The record in the row's `results`, a Python literal; empty where that is another kind of value.

    Raises ValueError where it is no literal: it is never run.
    """
    try:
        value = ast.literal_eval(text(row, "results"))
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"results holds no record: {error}") from error
    return value if isinstance(value, dict) else {}


def diagnosis(entry: dict) -> str:
    """Complaint or diagnosis of a record in any of the source's layouts, "" where it tells none."""
    procedure = entry.get("procedure")
    if isinstance(procedure, dict):
        told = procedure.get("chief_complaints_diagnosis")
        if told is None and procedure.get("chief_complaints") and procedure.get("diagnosis"):
            told = f"Complaints: {procedure['chief_complaints']}. Diagnosis: {procedure['diagnosis']}"
    elif isinstance(entry.get("prescription_details"), dict):
        told = entry["prescription_details"].get("disease_diagnosis")
    else:
        symptoms = entry.get("Symptoms/Complaints")
        told = ", ".join(map(str, symptoms)) if isinstance(symptoms, list) else None
    return _told(told)


def medicines(entry: dict) -> list[Medicine]:
    """The medicines of a record in any of the source's layouts, those listed by name alone left out."""
    listed = entry.get("medicine_details") or entry.get("Medicines Prescribed") or []
    found = []
    for item in listed if isinstance(listed, list) else []:
        if not isinstance(item, dict) or len(item) < 2:
            continue
        medicine = Medicine(
            _told(item.get("medicine_name") or item.get("Name")),
            _told(item.get("medicine_frequency") or item.get("medicine_dosage") or item.get("Dosage")).lower(),
            _told(item.get("course_duration") or item.get("Duration")).lower(),
        )
        if medicine.name and medicine.name.lower() != TEMPLATE_ANSWER:
            found.append(medicine)
    return found


def _told(value: object) -> str:
    told = " ".join(str(value).split()) if value is not None else ""
    return "" if told.lower() in UNTOLD else told


def _usable(row: Row) -> bool:
    entry = record(row)
    listed = medicines(entry)
    return bool(diagnosis(entry) and listed) and not INDIC.search(" ".join([diagnosis(entry), *map(str, listed)]))


Distractors = Callable[[Medicine, list[Medicine], list[Medicine], random.Random], Iterable[str]]


def benchmark(name: str, title: str, distractors: Distractors, notes: str) -> Benchmark:
    """A prescription benchmark. `distractors(gold, listed, pool, generator)` yields wrong options without
    end; the first three that differ from the gold and from each other are taken."""

    def prepare(rows: Sequence[Row], seed: int) -> Iterable[Row]:
        pool = sorted({medicine for row in rows for medicine in medicines(record(row))}, key=str)
        for row in rows:
            # One draw a row, from the row itself, so that it does not move when others come or go.
            generator = random.Random(derived_seed(seed, "prescriptions", content_key(row["results"])))
            listed = medicines(record(row))
            gold = generator.choice(listed)
            options = [str(gold)]
            attempts = distractors(gold, listed, pool, generator)
            for _ in range(1000):
                option = next(attempts)
                if option not in options:
                    options.append(option)
                if len(options) == OPTIONS:
                    break
            else:
                raise ValueError(f"finds no {OPTIONS - 1} wrong options for {gold}")
            generator.shuffle(options)
            yield {**row, "options": tuple(options), "gold": options.index(str(gold))}

    def fields(row: Row) -> dict:
        return {
            "question": diagnosis(record(row)),
            "options": row["options"],
            "candidates": tuple(f" {option}" for option in row["options"]),
            "gold": row["gold"],
        }

    return Benchmark(
        name=name,
        title=title,
        task="prescriptions",
        kind="multiple_choice",
        source=HubSource(
            repository="devlocalhost/prescription-full", split="train", columns=("results",), licence="unknown"
        ),
        fields=fields,
        filters=(where("diagnosis and medicines are told, and not in an Indic script", _usable),),
        prepare=prepare,
        prompt="prescriptions",
        rows="prescriptions",
        notes=notes,
        cite="lm-evaluation-harness, med_prescriptions",
    )
