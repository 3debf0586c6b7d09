"""Weighted multiple choice accuracy against every metric of every other benchmark."""

import pandas as pd

from beyondqa.logs import to_file
from beyondqa.records import read_csv, write_csv
from beyondqa.statistics.against import accuracy_correlations

with to_file(snakemake.log[0]):
    params = snakemake.params
    means = pd.concat([read_csv(path) for path in snakemake.input.means], ignore_index=True)
    write_csv(snakemake.output[0], accuracy_correlations(means, params.questions, params.sizes, params.families))
