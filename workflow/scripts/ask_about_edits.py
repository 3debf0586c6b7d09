"""Ask one model for the probability of edited references."""

from beyondqa import benchmarks, engines
from beyondqa.inference import answer_requests
from beyondqa.logs import to_file
from beyondqa.records import Journal, read_items, read_records, write_records
from beyondqa.sensitivity.edits import read_edits
from beyondqa.sensitivity.targets import requests, target_items
from beyondqa.stages.base import Job


def main(log) -> None:
    params, wildcards = snakemake.params, snakemake.wildcards
    targets = target_items(read_edits(snakemake.input.edits), read_items(snakemake.input.datasets), params.most)
    job = Job(
        stage="edits",
        model=wildcards.model,
        seed=params.seed,
        items=list(targets.values()),
        benchmarks={name: benchmarks.get(name) for name in params.benchmarks},
        settings=params.settings,
        chat_template=params.chat_template,
    )
    completions = [completion for path in snakemake.input.completions for completion in read_records(path)]
    asked = requests(job, completions, variants=params.variants)
    log.info("%s: %d requests about %d edited references", wildcards.model, len(asked), len(targets))
    engine = engines.load({**params.entry, "threads": snakemake.threads})
    write_records(snakemake.output[0], answer_requests(asked, engine, journal=Journal(params.journal, "edits.jsonl")))


# vLLM starts processes that import this module again.
if __name__ == "__main__":
    with to_file(snakemake.log[0]) as log:
        main(log)
