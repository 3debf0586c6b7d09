"""OLAPH (MedLFQA) in full."""

import dataclasses

from .olaph import BENCHMARK as TENTH
from .olaph import HAS_ANSWER

BENCHMARK = dataclasses.replace(
    TENTH,
    name="olaph_full",
    title="OLAPH (all rows)",
    filters=(HAS_ANSWER,),
    notes="All rows; the papers' benchmark takes the first tenth.",
)
