"""One step of CareQA-Open's construction that asks the model: rephrasing, selection or validation."""

import logging

from beyondqa import engines
from beyondqa.careqa_open import construction
from beyondqa.careqa_open.asking import Asking
from beyondqa.careqa_open.decisions import read_decisions, to_json
from beyondqa.inference import answer_requests
from beyondqa.logs import to_file
from beyondqa.records import Journal, read_items, write_jsonl


def main(log: logging.Logger) -> None:
    params = snakemake.params
    engine = engines.load({**params.entry, "threads": snakemake.threads})
    journal = Journal(params.journal, f"{params.step}.jsonl")
    decisions = construction.STEPS[params.step].decide(
        read_items([snakemake.input.careqa]),
        read_decisions(snakemake.input.before),
        construction.read_templates(snakemake.input.prompts),
        lambda requests: answer_requests(requests, engine, journal=journal),
        Asking(params.attempts, params.seed, params.max_new_tokens),
    )
    log.info("%s: %d questions, %d kept", params.step, len(decisions), sum(decision.kept for decision in decisions))
    write_jsonl(snakemake.output[0], map(to_json, decisions))


# vLLM starts processes that import this module again.
if __name__ == "__main__":
    with to_file(snakemake.log[0]) as job_log:
        main(job_log)
