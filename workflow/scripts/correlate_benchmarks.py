"""Benchmark by benchmark correlations over models, for each metric of one family."""

import pandas as pd

from beyondqa.logs import to_file
from beyondqa.records import read_csv, write_csv
from beyondqa.statistics.matrices import benchmark_matrix

with to_file(snakemake.log[0]):
    means = pd.concat([read_csv(path) for path in snakemake.input.means], ignore_index=True)
    write_csv(snakemake.output[0], benchmark_matrix(means))
