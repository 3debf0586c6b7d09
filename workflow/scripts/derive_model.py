"""Write a model that is another one with noise on its weights."""

from pathlib import Path

from beyondqa.logs import to_file
from beyondqa.models import derive

with to_file(snakemake.log[0]):
    derive(
        Path(snakemake.input.config).parent,
        Path(snakemake.output.config).parent,
        noise=snakemake.params.noise,
        seed=snakemake.params.noise_seed,
    )
