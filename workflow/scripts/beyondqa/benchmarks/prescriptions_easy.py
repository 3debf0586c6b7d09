"""Prescriptions, easy: which medicine was prescribed, among medicines of other patients."""

import random
from collections.abc import Iterator

from ._prescriptions import Medicine, benchmark


def _others(gold: Medicine, listed: list[Medicine], pool: list[Medicine], generator: random.Random) -> Iterator[str]:
    names = {medicine.name.lower() for medicine in listed}
    others = [medicine for medicine in pool if medicine.name.lower() not in names]
    if len(others) < 3:
        raise ValueError("needs medicines of other patients to choose from")
    while True:
        yield str(generator.choice(others))


BENCHMARK = benchmark(
    name="prescriptions_easy",
    title="Prescriptions (easy)",
    distractors=_others,
    notes="Wrong options are medicines of other rows, drawn once a row with the study's seed and used for "
    "prompt and scoring alike; the authors draw them anew each time, from a fixed list in their code.",
)
