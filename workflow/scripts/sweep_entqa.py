"""Group-level correlation of EntQA over a grid of thresholds."""

import torch

from beyondqa.entqa import embedders, scoring, sweep
from beyondqa.entqa.mentions import Mentions
from beyondqa.logs import to_file
from beyondqa.metrics import entqa
from beyondqa.records import read_items, read_jsonl, read_records, write_csv

with to_file(snakemake.log[0]):
    params = snakemake.params
    torch.set_num_threads(snakemake.threads)
    generations = (answer for path in snakemake.input.answers for answer in read_records(path))
    asked = [answer for answer in generations if answer.benchmark in params.benchmarks]
    records = scoring.read_records(read_items(snakemake.input.datasets), asked)
    mentions = Mentions.of_records(read_jsonl(snakemake.input.mentions))
    headline = entqa.chosen_variants(params.settings)[0]
    phrases = sweep.every_phrase(records, headline, mentions)
    embeddings = embedders.embed(entqa.load_embedder(params.settings), phrases, f"{params.journal}/embeddings")
    write_csv(snakemake.output[0], sweep.sweep(records, headline, mentions, embeddings))
