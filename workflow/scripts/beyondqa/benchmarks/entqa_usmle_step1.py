"""EntQA on sample questions of USMLE Step 1."""

from ._usmle import step

BENCHMARK = step(1, rows=94)
