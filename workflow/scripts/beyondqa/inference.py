"""Putting requests to an engine: what the journals hold is not asked again, the rest is asked in batches.

Batches are planned over the whole request list and a shard takes whole batches, so an undisturbed, a
killed-and-resumed and a sharded run ask the same batches and, with a deterministic engine, give the
same answers.
"""

from __future__ import annotations

import dataclasses
import logging
import re
import signal
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from .engines.base import Answer, Engine, Prepared, Request
from .items import BranchLikelihoods, Generation, from_json, to_json
from .progress import progress
from .records import Journal, JournalWriter

EXIT_ON_SIGTERM = 128 + signal.SIGTERM

log = logging.getLogger("beyondqa")


def answer_requests(
    requests: Sequence[Request], engine: Engine, *, journal: Journal, shard: int = 1, shards: int = 1
) -> list[Answer]:
    """Answers to the requests of one shard (1-based), in the order of the requests.

    Requests with one content key are asked once. Every batch is committed to the journal before the next
    one starts. On SIGTERM the batch in flight is finished and committed, then SystemExit is raised.
    """
    prepared = engine.prepare(requests)
    unique = list({p.key: p for p in reversed(prepared)}.values())[::-1]
    batches = engine.plan(unique)[shard - 1 :: shards]
    with journal.open() as writer:
        known = journal.read()
        missing = [[p for p in batch if p.key not in known] for batch in batches]
        _report(prepared, batches, missing, shard, shards)
        if any(missing):
            known |= _ask(engine, [batch for batch in missing if batch], writer)
    mine = {p.key for batch in batches for p in batch}
    return [_labelled(known[p.key], p, engine.model) for p in prepared if p.key in mine]


def _ask(engine: Engine, batches: list[list[Prepared]], writer: JournalWriter) -> dict[str, dict[str, Any]]:
    answers: dict[str, dict[str, Any]] = {}
    total = sum(map(len, batches))
    with _sigterm() as stopping, progress(total, engine.model) as done:
        for batch in batches:
            results = engine.answer(batch)
            lines = [{**to_json(result), "key": prepared.key} for prepared, result in zip(batch, results, strict=True)]
            writer.commit(lines)
            answers.update((line["key"], line) for line in lines)
            done.advance(len(batch), sum(map(_tokens, results)))
            if stopping():
                log.warning("SIGTERM: %d of %d requests are in the journal, run again to go on", len(answers), total)
                raise SystemExit(EXIT_ON_SIGTERM)
    return answers


def _labelled(answer: dict[str, Any], prepared: Prepared, model: str) -> Answer:
    request = prepared.request
    return dataclasses.replace(
        from_json(answer),
        item_id=request.item_id,
        benchmark=request.benchmark,
        model=request.model or model,
        variant=request.variant,
        index=request.index,
        prompt_tokens_cut=prepared.prompt_tokens_cut,
        key=prepared.key,
    )


def _tokens(answer: Answer) -> int:
    if isinstance(answer, Generation):
        return answer.generated_tokens or 0
    if isinstance(answer, BranchLikelihoods):
        return answer.target_tokens * len(answer.positions)
    return len(answer.token_log_probabilities)


def asked_everything(report: str) -> bool:
    """Whether a job's log says that it asked all its requests itself, so that its time is the time of its work."""
    found = re.search(r": (\d+) requests in \d+ batches, (\d+) to ask,", report)
    return found is not None and found[1] == found[2]


def _report(prepared, batches, missing, shard: int, shards: int) -> None:
    cut = Counter((p.request.benchmark, p.request.truncation_side) for p in prepared if p.prompt_tokens_cut)
    log.info(
        "shard %d of %d: %d requests in %d batches, %d to ask, the rest is in the journals",
        shard,
        shards,
        sum(map(len, batches)),
        len(batches),
        sum(map(len, missing)),
    )
    if cut:
        places = "; ".join(f"{benchmark} {count}, on the {side}" for (benchmark, side), count in sorted(cut.items()))
        log.warning("%d of %d prompts exceed the context and were cut: %s", cut.total(), len(prepared), places)


@contextmanager
def _sigterm() -> Iterator[Any]:
    """A function that tells whether SIGTERM has come, instead of dying from it."""
    received: list[int] = []
    previous = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    try:
        yield lambda: bool(received)
    finally:
        signal.signal(signal.SIGTERM, previous)
