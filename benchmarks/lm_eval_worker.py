"""Asks lm-evaluation-harness for log-likelihoods and times it; run by bench_mcqa.py in the harness's environment.

python lm_eval_worker.py MODEL ASKED ANSWERED
"""

import json
import sys
import time

from lm_eval.api.instance import Instance
from lm_eval.models.huggingface import HFLM

BATCH_SIZES = (1, 16)


def main(model: str, asked: str, answered: str) -> None:
    with open(asked) as file:
        pairs_by_kind = json.load(file)
    language_model = HFLM(pretrained=model, dtype="float32", device="cpu", batch_size=1)
    answers = {}
    for kind, pairs in pairs_by_kind.items():
        requests = [
            Instance(request_type="loglikelihood", doc={}, arguments=tuple(pair), idx=i) for i, pair in enumerate(pairs)
        ]
        language_model.loglikelihood(requests[:4], disable_tqdm=True)
        seconds = {}
        for size in BATCH_SIZES:
            language_model.batch_size_per_gpu = size
            start = time.perf_counter()
            results = language_model.loglikelihood(requests, disable_tqdm=True)
            seconds[size] = time.perf_counter() - start
        answers[kind] = {"seconds": seconds, "values": [float(value) for value, _ in results]}
    with open(answered, "w") as file:
        json.dump(answers, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
