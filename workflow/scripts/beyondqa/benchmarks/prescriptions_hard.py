"""Prescriptions, hard: which of several doses, mostly of the right medicines, was prescribed."""

import random
from collections.abc import Iterator

from ._prescriptions import Medicine, benchmark

FREQUENCIES = ("before breakfast", "before breakfast and dinner", "after food", "before food")
DURATIONS = ("once", "3 days", "5 days", "1 week", "10 days", "2 weeks", "3 weeks", "1 month", "2 months")


def _other_doses(
    gold: Medicine, listed: list[Medicine], pool: list[Medicine], generator: random.Random
) -> Iterator[str]:
    """Listed medicines with another dose; in half of the rows the first is the right one itself."""
    others = [medicine for medicine in listed if medicine.name != gold.name] or [gold]
    if generator.random() < 0.5:
        yield _redosed(gold, generator)
    while True:
        for medicine in others:
            yield _redosed(medicine, generator)


def _redosed(medicine: Medicine, generator: random.Random) -> str:
    return str(Medicine(medicine.name, generator.choice(FREQUENCIES), generator.choice(DURATIONS)))


BENCHMARK = benchmark(
    name="prescriptions_hard",
    title="Prescriptions (hard)",
    distractors=_other_doses,
    notes="Wrong options are the listed medicines with another frequency and duration, drawn once a row with "
    "the study's seed and used for prompt and scoring alike; the authors draw them anew each time.",
)
