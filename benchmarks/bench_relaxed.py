"""Relaxed Perplexity's log-likelihoods at speed: branches of shared completions against one sequence each.

    python benchmarks/bench_relaxed.py [--model DIRECTORY]

The usual way sends question + prefix + target once for each completion and position (the empty prefix once), in
batches of equal lengths, with logits for the target's tokens alone. Both ways score the same tokens with the same
model in one process; the model is loaded and warm before either starts. The last line is the result.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

from beyondqa import engines  # noqa: E402
from beyondqa.engines._tokens import spans  # noqa: E402
from beyondqa.engines._trees import Tree  # noqa: E402
from beyondqa.engines.base import Prepared  # noqa: E402
from beyondqa.engines.transformers import TransformersEngine  # noqa: E402
from beyondqa.items import Generation, OpenItem  # noqa: E402
from beyondqa.models import prepare_embedded  # noqa: E402
from beyondqa.relaxed_perplexity import Settings, branch_requests, completion_requests  # noqa: E402

MODEL = ROOT / "resources" / "models" / "SmolLM2-135M-Instruct"
QUESTION = (
    "Question: A patient with type 2 diabetes and stable kidney function asks how metformin lowers the glucose in "
    "the blood and which side effects are common in the first weeks of the treatment.\nAnswer:"
)
TARGET = "Metformin reduces glucose production in the liver and often causes nausea at first."
SETTINGS = {
    "stride16": Settings(tokens=128, stride=16),
    "stride8": Settings(tokens=128, stride=8),
    "long16": Settings(tokens=256, stride=16),
}
# Tokens of one batch of the usual way; larger ones pad more and were slower.
USUAL_BATCH = 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=str(MODEL))
    directory = parser.parse_args().model
    if not MODEL.exists():
        prepare_embedded(MODEL.name, MODEL)
    engine = engines.load({"name": "bench", "engine": "transformers", "directory": directory})
    item = OpenItem("question", "bench", QUESTION, TARGET, QUESTION)
    longest = max(SETTINGS.values(), key=lambda s: s.tokens)
    requests = completion_requests(item, QUESTION, longest, range(longest.samples))
    completions = list(engine.generate(requests))
    warm_up(engine, item, completions)
    ratios, differences, forwarded, distinct = {}, [], 0, 0
    for name, settings in SETTINGS.items():
        cut = [shortened(completion, settings.tokens) for completion in completions]
        prepared = engine.prepare(branch_requests(item, QUESTION, cut, [settings]))
        fast_seconds, fast = branched(engine, prepared)
        usual_seconds, usual, usual_tokens = one_by_one(engine, prepared)
        ratios[name] = usual_seconds / fast_seconds
        differences.append(max(abs(a - b) for a, b in zip(fast, usual, strict=True)))
        its_forwarded, its_distinct = tokens_forwarded(engine, prepared), tokens_distinct(engine, prepared)
        forwarded, distinct = forwarded + its_forwarded, distinct + its_distinct
        print(
            f"{settings.signature}: question {len(prepared[0].prompt_ids)}, target {len(prepared[0].continuation_ids)}"
            f" tokens; {len(usual)} likelihoods; usual {usual_seconds:.2f} s, {usual_tokens} tokens;"
            f" branched {fast_seconds:.2f} s, {its_forwarded} tokens, {its_distinct} distinct",
            flush=True,
        )
    print(
        "relaxed_perplexity "
        + " ".join(f"{name}={ratio:.2f}" for name, ratio in ratios.items())
        + f" max_abs_diff={max(differences):.1e} tokens_over_distinct={forwarded / distinct:.3f}"
    )


def shortened(completion: Generation, tokens: int) -> Generation:
    return dataclasses.replace(
        completion,
        token_ids=completion.token_ids[:tokens],
        token_log_probabilities=completion.token_log_probabilities[:tokens],
    )


def warm_up(engine: TransformersEngine, item: OpenItem, completions: Sequence[Generation]) -> None:
    small = Settings(tokens=32, stride=16, best=1)
    cut = [shortened(completion, small.tokens) for completion in completions]
    prepared = engine.prepare(branch_requests(item, item.prompt, cut, [small]))
    branched(engine, prepared)
    one_by_one(engine, prepared)


def branched(engine: TransformersEngine, prepared: Sequence[Prepared]) -> tuple[float, list[float]]:
    """Seconds, and log-likelihoods in the order of the requests and their positions."""
    start = time.perf_counter()
    by_key = {answer.key: answer for batch in engine.plan(prepared) for answer in engine.answer(batch)}
    seconds = time.perf_counter() - start
    return seconds, [value for p in prepared for value in by_key[p.key].log_probabilities]


def one_by_one(engine: TransformersEngine, prepared: Sequence[Prepared]) -> tuple[float, list[float], int]:
    """The same by one sequence for each likelihood; and the tokens forwarded, padding included."""
    start = time.perf_counter()
    flat = [span for p in prepared for span in spans(p, engine.context)]
    values: list[float] = [math.nan] * len(flat)
    waiting = sorted(range(len(flat)), key=lambda i: -len(flat[i][0]))
    tokens = 0
    while waiting:
        read, scored = flat[waiting[0]]
        width = len(read) + len(scored) - 1
        batch, waiting = waiting[: max(1, USUAL_BATCH // width)], waiting[max(1, USUAL_BATCH // width) :]
        rows = [Tree() for _ in batch]
        for row, i in zip(rows, batch, strict=True):
            row.add(*flat[i])
        for i, (log_probabilities, _) in zip(batch, engine._score_rows(rows), strict=True):
            values[i] = math.fsum(log_probabilities)
        tokens += width * len(batch)
    return time.perf_counter() - start, values, tokens


def tokens_forwarded(engine: TransformersEngine, prepared: Sequence[Prepared]) -> int:
    """Tokens of all rows of all batches, padding included, and of what is read beforehand."""
    total = 0
    for batch in engine.plan(prepared):
        rows = engine._rows(batch)
        heads = {row.before for row in rows}
        total += len(rows) * max(map(len, rows)) + len(heads) * max(map(len, heads))
    return total


def tokens_distinct(engine: TransformersEngine, prepared: Sequence[Prepared]) -> int:
    """Tokens that would be forwarded if no beginning of a sequence were ever computed twice."""
    everything = Tree()
    for p in prepared:
        for span in spans(p, engine.context):
            everything.add(*span)
    return len(everything)


if __name__ == "__main__":
    main()
