"""EntQA on sample questions of USMLE Step 3."""

from ._usmle import step

BENCHMARK = step(3, rows=122)
