"""OLAPH (MedLFQA) in full."""

import dataclasses

from .olaph import BENCHMARK as TENTH

BENCHMARK = dataclasses.replace(
    TENTH,
    name="olaph_full",
    title="OLAPH (all rows)",
    filters=(),
    notes="All rows; the papers' benchmark takes the first tenth.",
)
