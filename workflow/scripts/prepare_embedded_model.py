"""Convert the model that a pinned package carries to a model directory."""

from pathlib import Path

from beyondqa.logs import to_file
from beyondqa.models import prepare_embedded

with to_file(snakemake.log[0]):
    prepare_embedded(snakemake.params.embedded, Path(snakemake.output.config).parent)
