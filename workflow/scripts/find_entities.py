"""Entities of the cases and answers of one pack, over all models, and embeddings of those that can match."""

import torch

from beyondqa.entqa import embedders, scoring
from beyondqa.logs import to_file
from beyondqa.metrics import entqa
from beyondqa.records import Journal, read_items, read_records, write_json, write_jsonl

with to_file(snakemake.log[0]) as log:
    params, pack = snakemake.params, snakemake.wildcards.pack
    torch.set_num_threads(snakemake.threads)
    generations = (answer for path in snakemake.input.answers for answer in read_records(path))
    asked = [answer for answer in generations if answer.benchmark in params.benchmarks]
    records = scoring.read_records(read_items(snakemake.input.datasets), asked)
    variants = entqa.chosen_variants(params.settings)
    extractor, embedder = entqa.load_extractor(params.settings), entqa.load_embedder(params.settings)
    journals = {kind: Journal(f"{params.journal}/{kind}", f"{pack}.jsonl") for kind in ("entities", "noun_chunks")}
    mentions = scoring.find_mentions(records, variants, extractor, journals)
    wanted = scoring.phrases(records, variants, mentions)
    log.info("%d answers, %d phrases can match", len(records), len(wanted))
    embeddings = embedders.embed(embedder, wanted, f"{params.journal}/embeddings")
    truncated = embedder.truncated(wanted)
    if truncated:
        log.warning(
            "%d phrases exceed the embedder's limit and were cut, the first: %r", len(truncated), truncated[0][:80]
        )
    write_jsonl(snakemake.output.mentions, mentions.records())
    embeddings.write(snakemake.output.embeddings)
    extractor_name, embedder_name = entqa.names(params.settings)
    write_json(
        snakemake.output.signature,
        {
            "extractor": {"name": extractor_name, **extractor.identity()},
            "embedder": {"name": embedder_name, "key": embedder.key, "truncated_phrases": len(truncated)},
            "variants": [variant.name for variant in variants],
        },
    )
