"""How often the metrics prefer the answers of the less noisy one of two derived models."""

from beyondqa.logs import to_file
from beyondqa.records import write_csv
from beyondqa.sensitivity.preferences import ladder_preferences
from beyondqa.statistics.scores import read_with_metrics

with to_file(snakemake.log[0]):
    scores, metrics = read_with_metrics(snakemake.input.scores)
    noises = {model: (base, noise) for model, (base, noise) in snakemake.params.noises.items()}
    write_csv(snakemake.output[0], ladder_preferences(scores, metrics, noises, seed=snakemake.params.seed))
