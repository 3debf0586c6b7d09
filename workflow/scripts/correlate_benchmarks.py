"""Benchmark by benchmark correlations over models, for each metric of one family."""

# ruff: noqa: F821 (Snakemake puts the object `snakemake` before a script)

import pandas as pd

from beyondqa.logs import to_file
from beyondqa.records import read_csv, write_csv
from beyondqa.statistics.matrices import benchmark_matrix

with to_file(snakemake.log[0]):
    means = pd.concat([read_csv(path) for path in snakemake.input.means], ignore_index=True)
    write_csv(snakemake.output[0], benchmark_matrix(means))
