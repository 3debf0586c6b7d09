"""Ask one model the requests of one stage, pack and shard."""

import logging
from pathlib import Path

from beyondqa import benchmarks, engines, stages
from beyondqa.inference import answer_requests
from beyondqa.logs import to_file
from beyondqa.records import Journal, read_items, read_records, write_records
from beyondqa.stages.base import Job


def main(log: logging.Logger) -> None:
    params, wildcards = snakemake.params, snakemake.wildcards
    items = list(read_items(snakemake.input.datasets).values())
    job = Job(
        stage=wildcards.stage,
        model=wildcards.model,
        seed=params.seed,
        items=items,
        benchmarks={name: benchmarks.get(name) for name in {item.benchmark for item in items}},
        settings=params.settings,
        chat_template=params.chat_template,
        max_new_tokens=params.max_new_tokens,
        answers=[answer for path in snakemake.input.answers for answer in read_records(path)],
        prompts={
            path.rsplit("/", 1)[-1].removesuffix(".txt"): Path(path).read_text(encoding="utf-8").strip()
            for path in snakemake.input.prompts
        },
    )
    stage = stages.get(wildcards.stage)
    requests = stage.requests(job)
    log.info("%s, stage %s: %d requests", wildcards.model, wildcards.stage, len(requests))
    shard, shards = int(wildcards.shard), int(wildcards.shards)
    journal = Journal(params.journal, f"{wildcards.pack}.{shard}-of-{shards}.jsonl")
    engine = engines.load({**params.entry, "threads": snakemake.threads})
    answers = answer_requests(requests, engine, journal=journal, shard=shard, shards=shards)
    # What is asked again concerns this shard's answers alone, so it is no longer shared out.
    while hasattr(stage, "follow_up") and (requests := stage.follow_up(job, answers)):
        log.info("asking again: %d requests", len(requests))
        answers += answer_requests(requests, engine, journal=journal)
    write_records(snakemake.output[0], answers)


# vLLM starts processes that import this module again.
if __name__ == "__main__":
    with to_file(snakemake.log[0]) as job_log:
        main(job_log)
