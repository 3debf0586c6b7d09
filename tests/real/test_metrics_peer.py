"""Aggregations and word counts, judged by lm-evaluation-harness itself in its own environment."""

import json
import random
import subprocess

import pandas as pd
import pytest

from beyondqa.items import LogLikelihood, OpenItem, Score
from beyondqa.metrics import accuracy, bleu, perplexity
from beyondqa.metrics.base import TRANSFORMS
from beyondqa.records import scores_frame
from beyondqa.statistics.against import weighted_accuracy
from beyondqa.statistics.aggregation import means

PEER = """
import json, sys
from lm_eval.api import metrics
from lm_eval.tasks.careqa import utils_perplexity
rows = [utils_perplexity.process_results({"answer": text}, (total,)) for text, total in json.load(sys.stdin)]
pooled = {"word_perplexity": metrics.weighted_perplexity, "byte_perplexity": metrics.weighted_perplexity,
          "bits_per_byte": metrics.bits_per_byte}
print(json.dumps({name: f([row[name] for row in rows]) for name, f in pooled.items()}))
"""


def test_pooled_values_are_those_of_the_harness(peer_python):
    words = ["fever", "Neumonía", " ", "β-blocker", "\n", "5 mg/dl", "🩺", "\u00a0"]
    draw = random.Random(3)
    texts = [" ".join(draw.choices(words, k=draw.randint(1, 9))) + "x" for _ in range(40)]
    rows = [(text, -draw.uniform(0.5, 80)) for text in texts]
    asked = subprocess.run(
        [peer_python, "-c", PEER], input=json.dumps(rows), capture_output=True, text=True, check=True, timeout=300
    )
    expected = json.loads(asked.stdout.splitlines()[-1])

    items = {str(n): OpenItem(str(n), "b", "q", text, "p") for n, (text, _) in enumerate(rows)}
    likelihoods = [
        LogLikelihood(str(n), "b", "m", "reference", 0, (total,), False) for n, (_, total) in enumerate(rows)
    ]
    transforms = {metric.name: TRANSFORMS[metric.transform] for metric in perplexity.metrics({})}
    scores = list(perplexity.scores(items, likelihoods, {}))
    for name, value in expected.items():
        own = [score for score in scores if score.metric == name]
        mean = sum(score.weight * score.value for score in own) / sum(score.weight for score in own)
        assert transforms[name](mean) == pytest.approx(value, rel=1e-9), name


AGGREGATIONS = """
import json, sys
from lm_eval.api import metrics
asked = json.load(sys.stdin)
tasks = asked["tasks"]
sizes = [len(values) for values in tasks]
accuracies = [metrics.mean(values) for values in tasks]
told = {"mean": accuracies, "bleu": metrics.bleu([tuple(pair) for pair in asked["pairs"]])}
for name, weighted in (("weighted", True), ("macro", False)):
    told[name] = metrics.aggregate_subtask_metrics(accuracies, sizes, weighted)
told["nanmean"] = metrics.nanmean([float("nan") if v is None else v for v in asked["answered"]])
print(json.dumps(told))
"""


def test_means_over_items_tasks_and_answered_items_are_the_harness_s(peer_python):
    draw = random.Random(5)
    tasks = [[draw.randint(0, 1) for _ in range(size)] for size in (17, 5, 30)]
    words = ["the", "patient", "has", "a", "fever", "cough", "."]
    pairs = [[" ".join(draw.choices(words, k=draw.randint(4, 12))) for _ in range(2)] for _ in range(20)]
    answered = [None if draw.random() < 0.3 else draw.random() for _ in range(25)]
    told = subprocess.run(
        [peer_python, "-c", AGGREGATIONS],
        input=json.dumps({"tasks": tasks, "pairs": pairs, "answered": answered}),
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    expected = json.loads(told.stdout.splitlines()[-1])
    described = {metric.name: metric for metric in accuracy.metrics({})}

    def mean(benchmark, values, groups=None, empty=()):
        """One benchmark's row of means; items are numbered, `groups` by item."""
        scores = [
            Score(str(n), benchmark, "m", "option", 0, "accuracy", value, flags=("empty",) * (n in empty))
            for n, value in enumerate(values)
        ]
        grouped = {benchmark: {str(n): group for n, group in enumerate(groups)}} if groups else {}
        return means(scores_frame(scores).astype({"flags": "category"}), described, grouped, seed=1)

    each = pd.concat([mean(f"task{n}", values) for n, values in enumerate(tasks)])
    assert list(each["mean"]) == pytest.approx(expected["mean"], rel=1e-12)
    assert weighted_accuracy(each)["m"] == pytest.approx(expected["weighted"], rel=1e-12)
    subjects = [str(n) for n, values in enumerate(tasks) for _ in values]
    (macro,) = mean("mmlu", [value for values in tasks for value in values], subjects)["mean"]
    assert macro == pytest.approx(expected["macro"], rel=1e-12)
    assert macro != pytest.approx(expected["weighted"], rel=1e-3)

    # The harness leaves empty answers out; here that is the column beside the headline mean.
    empty = {n for n, value in enumerate(answered) if value is None}
    (row,) = mean("open", [value or 0.0 for value in answered], empty=empty).to_dict("records")
    assert row["mean_answered"] == pytest.approx(expected["nanmean"], rel=1e-12)
    assert row["mean"] == pytest.approx(sum(value or 0.0 for value in answered) / len(answered), rel=1e-12)

    references, predictions = zip(*pairs, strict=True)
    assert bleu.corpus_bleu(predictions, references) == pytest.approx(expected["bleu"], rel=1e-12)
