"""Answer requests through the study's runner and journal, slowly."""

import fcntl
import hashlib
import time
from pathlib import Path

from beyondqa.engines.base import Engine, GenerationRequest, Prepared
from beyondqa.inference import answer_requests
from beyondqa.items import Generation
from beyondqa.logs import to_file
from beyondqa.records import Journal, write_records

BATCH = 4


class Waiting(Engine):
    """Answers with a hash of the prompt after a pause a batch, and counts what it was asked."""

    name = "waiting"
    SEMANTICS = 1

    def identity(self):
        return {}

    def prepare(self, requests):
        prompts = [tuple(request.prompt.encode()) for request in requests]
        return [Prepared(r, ids, key=self.key(r, ids, ())) for r, ids in zip(requests, prompts, strict=True)]

    def plan(self, prepared):
        return [list(prepared[i : i + BATCH]) for i in range(0, len(prepared), BATCH)]

    def answer(self, batch):
        time.sleep(self.entry["pause"])
        return [
            Generation(
                item_id=p.request.item_id,
                benchmark=p.request.benchmark,
                model=self.model,
                variant=p.request.variant,
                index=p.request.index,
                text=hashlib.sha256(bytes(p.prompt_ids)).hexdigest(),
                finish_reason="stop",
            )
            for p in batch
        ]


with to_file(snakemake.log[0]):
    name, params = snakemake.wildcards.n, snakemake.params
    journals = Path("journals") / name
    journals.mkdir(parents=True, exist_ok=True)
    writer = open(f"journals/{name}.lock", "w")  # noqa: SIM115  held until the process ends
    try:
        fcntl.flock(writer, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        Path(f"journals/{name}.two-writers").touch()
        raise
    requests = [
        GenerationRequest(f"{name}-{i}", "toy", "greedy", 0, f"prompt {i} of {name}", max_new_tokens=8)
        for i in range(params.requests)
    ]
    engine = Waiting({"name": "waiting", "pause": params.pause})
    write_records(snakemake.output[0], answer_requests(requests, engine, journal=Journal(journals, "own.jsonl")))
