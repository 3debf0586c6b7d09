"""Convert the model that a pinned package carries to a model directory."""

import contextlib
from pathlib import Path

from beyondqa.models import prepare_embedded

with open(snakemake.log[0], "w") as log, contextlib.redirect_stderr(log):  # noqa: F821
    prepare_embedded(snakemake.params.embedded, Path(snakemake.output.config).parent)  # noqa: F821
