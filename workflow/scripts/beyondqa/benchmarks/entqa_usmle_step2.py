"""EntQA on sample questions of USMLE Step 2."""

from ._usmle import step

BENCHMARK = step(2, rows=109)
