#!/usr/bin/env bash
# scispaCy asks for numpy below 2 and an index library, for entity linking alone. What the study uses of it, the
# abbreviation detector, needs neither.
set -euo pipefail
python -m pip install --quiet --no-deps scispacy==0.6.2
