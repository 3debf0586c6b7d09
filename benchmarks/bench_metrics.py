"""Our metrics against what a careful user would write, on 3,000 recorded answers in one run.

The pairs are the shortest answers of at least 20 words that five models gave to OLAPH's 201 questions, six
samples a question, so that each reference has many answers. Both sides use one thread, the same encoder (MiniLM)
and, for times, the CPU time of this process, which a busy machine distorts least. The last line is for machines
to read. The usual MoverScore is its authors' recipe with a present-day encoder and solver: batches in the order
given, then a plain loop of distances; nearly all of its time is the encoder's.

bert-score counts padding as a similarity of 0, so that its value of a pair with a negative best similarity
depends on the pairs beside it; such pairs are compared with its value for the pair alone.

Needs the folder with recorded data (BEYONDQA_SHARED, by default ../shared).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import string
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "workflow" / "scripts"))

import numpy as np  # noqa: E402

from beyondqa.encoders import directory  # noqa: E402
from beyondqa.scoring import score_pairs  # noqa: E402

SHARED = Path(os.environ.get("BEYONDQA_SHARED", ROOT.parent / "shared"))
MODELS = ["gemma-7b", "llama3-8b-instruct", "llama3-8b", "mistral-7b", "selfbiorag-7b"]
MINIMUM_WORDS = 20
LAYER = 6
BATCH = 64
TOLERANCE = 1e-5
MINILM = {"name": "all-minilm-l6-v2", "embedded": True, "layer": LAYER}
ROUGE = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
BLEU = "bleu[sacrebleu,13a,exp,effective]"
BERTSCORE = f"bertscore_f1[all-minilm-l6-v2,L{LAYER}]"
MOVERSCORE = f"moverscore[all-minilm-l6-v2,L{LAYER},noidf]"

Pairs = list[tuple[str, str]]


def recorded_pairs(count: int) -> tuple[Pairs, list[tuple[str, int]]]:
    """(answer, reference) pairs, the shortest answers of at least MINIMUM_WORDS, and the (model, sample) of each."""
    rows = []
    for model in MODELS:
        path = SHARED / f"recorded/olaph_sampled_predictions/pdata_{model}_kqa_golden_sampling.jsonl.gz"
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for row in map(json.loads, file):
                for sample, text in enumerate(row["sample_predictions"]):
                    if len(text.split()) >= MINIMUM_WORDS:
                        rows.append((len(text), text, row["Free_form_answer"], model, sample))
    chosen = sorted(rows)[:count]
    chosen.sort(key=lambda row: (row[3], row[4]))
    return [(row[1], row[2]) for row in chosen], [(row[3], row[4]) for row in chosen]


def timed(label: str, work: Callable[[], dict[str, list[float]]]) -> tuple[float, dict[str, list[float]]]:
    start = time.process_time()
    values = work()
    seconds = time.process_time() - start
    print(f"{label}: {seconds:.1f} s", flush=True)
    return seconds, values


def ours(pairs: Pairs, modules: dict) -> dict[str, list[float]]:
    columns, _ = score_pairs(pairs, modules)
    return {name: list(column.values) for name, column in columns.items()}


def usual_ngrams(pairs: Pairs) -> dict[str, list[float]]:
    """One reused RougeScorer and one reused sacrebleu object, pair by pair."""
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu.metrics import BLEU as SacreBleu

    scorer, bleu = RougeScorer(ROUGE), SacreBleu(effective_order=True)
    found = defaultdict(list)
    for prediction, reference in pairs:
        for kind, score in scorer.score(reference, prediction).items():
            found[f"{kind}[nostem]"].append(score.fmeasure)
        found[BLEU].append(bleu.sentence_score(prediction, [reference]).score)
    return found


def usual_bertscore(pairs: Pairs) -> dict[str, list[float]]:
    """One call of bert-score."""
    import bert_score

    predictions, references = map(list, zip(*pairs, strict=True))
    _, _, f1 = bert_score.score(predictions, references, model_type=str(directory(MINILM)), num_layers=LAYER)
    return {BERTSCORE: f1.tolist()}


def usual_bertscore_by_variant(pairs: Pairs, variants: list[tuple[str, int]]) -> dict[str, list[float]]:
    """bert-score called once per (model, variant)."""
    found = [0.0] * len(pairs)
    for variant in dict.fromkeys(variants):
        indices = [index for index, other in enumerate(variants) if other == variant]
        values = usual_bertscore([pairs[index] for index in indices])[BERTSCORE]
        for index, value in zip(indices, values, strict=True):
            found[index] = value
    return {BERTSCORE: found}


def usual_moverscore(pairs: Pairs) -> dict[str, list[float]]:
    """The authors' recipe: batches of pairs, both sides embedded and padded, one square matrix of distances over
    reference and answer a pair, and a transport problem between two histograms over all of its rows."""
    import ot
    import torch
    import transformers

    folder = directory(MINILM)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    left_out = {tokenizer.pad_token, *string.punctuation}

    def embed(texts: list[str]) -> tuple[torch.Tensor, np.ndarray]:
        encoded = tokenizer(texts, padding=True, truncation=True, max_length=512, return_tensors="pt")
        with torch.no_grad():
            states = model(**encoded).last_hidden_state
        tokens = map(tokenizer.convert_ids_to_tokens, encoded["input_ids"])
        kept = [[token not in left_out and "##" not in token for token in row] for row in tokens]
        return states, np.array(kept, dtype=float)

    found = []
    for start in range(0, len(pairs), BATCH):
        predictions, references = map(list, zip(*pairs[start : start + BATCH], strict=True))
        (left, left_weights), (right, right_weights) = embed(references), embed(predictions)
        points = torch.nn.functional.normalize(torch.cat([left, right], dim=1), dim=-1)
        distances = torch.cdist(points, points).double().numpy()
        for matrix, a, b in zip(distances, left_weights, right_weights, strict=True):
            a, b = np.concatenate([a, 0 * b]), np.concatenate([0 * a, b])
            found.append(1 - ot.emd2(a / a.sum(), b / b.sum(), np.ascontiguousarray(matrix)))
    return {MOVERSCORE: found}


def alone(pairs: Pairs, mine: list[float], theirs: list[float]) -> list[float]:
    """bert-score's values, those that its batches moved replaced by the pair's own."""
    import bert_score

    moved = [index for index, pair in enumerate(zip(mine, theirs, strict=True)) if abs(pair[0] - pair[1]) > TOLERANCE]
    print(f"bert-score's batches moved {len(moved)} of {len(pairs)} values", flush=True)
    theirs = list(theirs)
    for index in moved:
        prediction, reference = pairs[index]
        _, _, f1 = bert_score.score([prediction], [reference], model_type=str(directory(MINILM)), num_layers=LAYER)
        theirs[index] = f1.item()
    return theirs


def largest_difference(mine: dict[str, list[float]], theirs: dict[str, list[float]]) -> float:
    """Over all metrics of theirs; BLEU's scale of 100 is brought to 1."""
    return max(
        float(np.abs(np.subtract(mine[name], values)).max()) / (100 if name == BLEU else 1)
        for name, values in theirs.items()
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=3000)
    arguments = parser.parse_args()
    pairs, variants = recorded_pairs(arguments.pairs)
    references = len({reference for _, reference in pairs})
    words = [np.mean([len(pair[k].split()) for pair in pairs]) for k in (0, 1)]
    print(f"{len(pairs)} pairs, {references} references, {words[0]:.0f} words an answer, {words[1]:.0f} a reference")

    encoders = {"encoders": [MINILM]}
    ngram, mine = timed("ours, ROUGE and BLEU", lambda: ours(pairs, {"rouge": {}, "bleu": {}}))
    bertscore, values = timed("ours, BERTScore", lambda: ours(pairs, {"bertscore": encoders}))
    mine |= values
    moverscore, values = timed("ours, MoverScore", lambda: ours(pairs, {"moverscore": encoders}))
    mine |= values
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    theirs = {
        "ngram": timed("usual, ROUGE and BLEU", lambda: usual_ngrams(pairs)),
        "bertscore": timed("usual, BERTScore a model and variant", lambda: usual_bertscore_by_variant(pairs, variants)),
        "bertscore_once": timed("usual, BERTScore at once", lambda: usual_bertscore(pairs)),
        "moverscore": timed("usual, MoverScore", lambda: usual_moverscore(pairs)),
    }
    seconds = {"ngram": ngram, "bertscore": bertscore, "bertscore_once": bertscore, "moverscore": moverscore}
    ratios = " ".join(f"{name}_ratio={theirs[name][0] / seconds[name]:.2f}" for name in seconds)
    for name in ("bertscore", "bertscore_once"):
        values = theirs[name][1]
        values[BERTSCORE] = alone(pairs, mine[BERTSCORE], values[BERTSCORE])
    difference = max(largest_difference(mine, values) for _, values in theirs.values())
    print(f"metrics {ratios} max_abs_diff={difference:.1e} peak_mb={peak_mb:.0f}")


if __name__ == "__main__":
    main()
