"""Speed of EntQA against the straightforward way, on seven answer sets to the same real cases.

The straightforward way treats one record after the other: it finds the entities of background, question and
explanation, embeds them all, and compares pair by pair. Ours finds the entities of each distinct text once,
embeds each distinct phrase that can match once, and compares by matrices. Both use the dictionary, noun chunks
and MiniLM, and must give the same scores.

The answers are made of recorded chains of thought of two systems on MedQA: answer set k takes each sentence
from the better system less often the higher k is, and is filled up with sentences about other cases to 300
words. Needs the folder with recorded data (BEYONDQA_SHARED, by default ../shared). One process, both ways in
turn. The last line is the result.
"""

import json
import os
import random
import re
import resource
import sys
import tarfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

from beyondqa.entqa import answers as reading  # noqa: E402
from beyondqa.entqa import embedders, scoring  # noqa: E402
from beyondqa.entqa.extractors import Dictionary, NounChunks  # noqa: E402
from beyondqa.entqa.normalisation import entities  # noqa: E402
from beyondqa.entqa.variants import AS_CODED  # noqa: E402
from beyondqa.items import Generation, MultipleChoiceItem  # noqa: E402

SHARED = Path(os.environ.get("BEYONDQA_SHARED", ROOT.parent / "shared"))
SYSTEMS = ("gpt-4-32k", "gpt-35-turbo-16k")
MODELS = 7
WORDS = 300
CASES = 143  # 1,001 answers
COMPARED_CASES = 20  # the straightforward way is slow
THREADS = 1  # the parser takes most of the time and uses one; phrases are too short for more to pay


def cases(count: int) -> list[MultipleChoiceItem]:
    """The first MedQA questions of the mirror."""
    import pandas as pd

    rows = pd.read_parquet(SHARED / "hub/GBaker/MedQA-USMLE-4-options-hf/default/test-00000-of-00001.parquet")
    return [
        MultipleChoiceItem(
            id=f"medqa:{i}",
            benchmark="entqa_medqa",
            question=f"{row.sent1} {row.sent2 or ''}".strip(),
            options=(row.ending0, row.ending1, row.ending2, row.ending3),
            candidates=(" A", " B", " C", " D"),
            gold=int(row.label),
            prompt="-",
        )
        for i, row in enumerate(rows.head(count).itertuples())
    ]


def thoughts(system: str) -> list[list[str]]:
    """Sentences of a system's recorded chain of thought, by MedQA question."""
    found = {}
    with tarfile.open(SHARED / f"recorded/mirage_predictions/medqa__cot__{system}.tar.gz") as archive:
        for member in archive:
            if member.isfile():
                (text,) = json.loads(archive.extractfile(member).read()) or [""]
                text = re.sub(r'^\{"step_by_step_thinking": "|", "answer_choice".*$', "", text, flags=re.DOTALL)
                found[int(re.search(r"test_(\d+)", member.name)[1])] = re.split(r"(?<=[.!?])\s+", text)
    return [found[i] for i in sorted(found)]


def answer_sets(items: list[MultipleChoiceItem]) -> list[Generation]:
    """MODELS answers a case, each of WORDS words or a little more."""
    better, worse = map(thoughts, SYSTEMS)
    answers = []
    for model in range(MODELS):
        draw = random.Random(model)
        for i, item in enumerate(items):
            sentences = [draw.choice(worse[i]) if draw.random() < model / (MODELS - 1) else s for s in better[i]]
            while sum(len(s.split()) for s in sentences) < WORDS:
                sentences.append(draw.choice(draw.choice(draw.choice([better, worse]))))
            text = f"The correct answer is {draw.choice('ABCD')}. Explanation: {' '.join(sentences)}"
            answers.append(Generation(item.id, item.benchmark, f"set-{model}", "greedy", 0, text, "recorded"))
    return answers


def ours(items, answers, extractor, embedder):
    records = scoring.read_records({item.id: item for item in items}, answers)
    mentions = scoring.find_mentions(records, [AS_CODED], extractor)
    wanted = scoring.phrases(records, [AS_CODED], mentions)
    embeddings = embedders.embed(embedder, wanted)
    scores, _ = scoring.score(records, [AS_CODED], mentions, embeddings, lambda kind, variant: kind)
    return {(s.model, s.item_id, s.metric): s.value for s in scores if s.metric in scoring.RECALLS}, len(wanted)


def straightforward(items, answers, extractor, noun_chunks, embedder):
    stems = {item.id: item.question for item in items}
    values, embedded = {}, 0
    for answer in answers:
        split = AS_CODED.split(stems[answer.item_id])
        explanation = reading.read(answer.text, "ABCD").explanation
        lists = []
        for text in (split.background, split.question, explanation):
            found = [*extractor.extract([text])[0], *noun_chunks.extract([text])[0]]
            lists.append(entities(mention.text for mention in sorted(found, key=lambda m: (m.start, m.end))))
        vectors = [embedder.encode(phrases) for phrases in lists]
        embedded += sum(map(len, lists))
        for kind, phrases, sides in zip(scoring.RECALLS, lists, vectors, strict=False):
            covered = sum(
                any(matches(a, u, b, v) for b, v in zip(lists[2], vectors[2], strict=True))
                for a, u in zip(phrases, sides, strict=True)
            )
            values[answer.model, answer.item_id, kind] = round(covered / len(phrases), 2) if phrases else 0.0
    return values, embedded


def matches(a, u, b, v) -> bool:
    left, right = set(a.split()), set(b.split())
    return len(left & right) / len(left | right) >= 0.3 and float(u @ v) > 0.7


def timed(function, *arguments):
    start, processor = time.perf_counter(), time.process_time()
    values, embedded = function(*arguments)
    print(f"  processor time: {time.process_time() - processor:.1f} s")
    return time.perf_counter() - start, values, embedded


def main() -> None:
    import torch

    torch.set_num_threads(THREADS)
    items = cases(CASES)
    answers = answer_sets(items)
    compared = items[:COMPARED_CASES]
    few = [answer for answer in answers if answer.item_id in {item.id for item in compared}]
    extractor, noun_chunks = Dictionary(), NounChunks()
    embedder = embedders.load({"name": "all-minilm-l6-v2", "embedded": True})
    start = time.perf_counter()
    extractor.extract(["cough"]), noun_chunks.extract(["a cough"]), embedder.encode(["cough"])
    print(f"loading: {time.perf_counter() - start:.1f} s")
    words = sum(len(answer.text.split()) for answer in answers) / len(answers)
    all_seconds, _, embedded = timed(ours, items, answers, extractor, embedder)
    print(f"ours, {len(answers)} answers of {words:.0f} words: {all_seconds:.1f} s, {embedded} phrases embedded")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory so far: {peak:.0f} MB, {THREADS} threads")
    slow_seconds, expected, embedded = timed(straightforward, compared, few, extractor, noun_chunks, embedder)
    print(f"straightforward, {len(few)} answers: {slow_seconds:.1f} s, {embedded} phrases embedded")
    seconds, found, embedded = timed(ours, compared, few, extractor, embedder)
    print(f"ours, {len(few)} answers: {seconds:.1f} s, {embedded} phrases embedded")
    if found.keys() != expected.keys():
        raise SystemExit("the two ways scored different records")
    difference = max(abs(found[key] - expected[key]) for key in expected)
    rate = len(answers) / all_seconds
    print(f"entqa speedup={slow_seconds / seconds:.2f} records_per_s={rate:.1f} max_abs_diff={difference:.1e}")


if __name__ == "__main__":
    main()
