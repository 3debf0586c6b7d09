"""Write a model that is another one with noise on its weights."""

from pathlib import Path

from beyondqa.logs import to_file
from beyondqa.models import derive

with to_file(snakemake.log[0]):  # noqa: F821
    derive(
        Path(snakemake.input.config).parent,  # noqa: F821
        Path(snakemake.output.config).parent,  # noqa: F821
        noise=snakemake.params.noise,  # noqa: F821
        seed=snakemake.params.noise_seed,  # noqa: F821
    )
