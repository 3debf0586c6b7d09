"""Pooled perplexities and word counts, judged by lm-evaluation-harness itself in its own environment."""

import json
import random
import subprocess

import pytest

from beyondqa.items import LogLikelihood, OpenItem
from beyondqa.metrics import perplexity
from beyondqa.metrics.base import TRANSFORMS

PEER = """
import json, sys
from lm_eval.api import metrics
from lm_eval.tasks.careqa import utils_perplexity
rows = [utils_perplexity.process_results({"answer": text}, (total,)) for text, total in json.load(sys.stdin)]
pooled = {"word_perplexity": metrics.weighted_perplexity, "byte_perplexity": metrics.weighted_perplexity,
          "bits_per_byte": metrics.bits_per_byte}
print(json.dumps({name: f([row[name] for row in rows]) for name, f in pooled.items()}))
"""


@pytest.fixture(scope="module")
def peer_python(root):
    found = root / ".venv-lm-eval" / "bin" / "python"
    if not found.is_file():
        pytest.skip("lm-evaluation-harness's environment .venv-lm-eval is absent")
    return found


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
