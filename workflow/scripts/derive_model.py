"""Write a model that is another one with noise on its weights."""

import contextlib
from pathlib import Path

from beyondqa.models import derive

with open(snakemake.log[0], "w") as log, contextlib.redirect_stderr(log):  # noqa: F821
    derive(
        Path(snakemake.input.config).parent,  # noqa: F821
        Path(snakemake.output.config).parent,  # noqa: F821
        noise=snakemake.params.noise,  # noqa: F821
        seed=snakemake.params.noise_seed,  # noqa: F821
    )
