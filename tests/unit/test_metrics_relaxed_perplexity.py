"""Relaxed Perplexity's scores from an inference job's records, against sums done by hand."""

import math

import pytest

from beyondqa.benchmarks.base import Benchmark, CredentialedSource
from beyondqa.items import BranchLikelihoods, Generation, OpenItem
from beyondqa.metrics import relaxed_perplexity as metric
from beyondqa.stages import completions, relaxed
from beyondqa.stages.base import Job

SETTINGS = {
    "tokens": 2,
    "stride": 1,
    "best": 2,
    "samples": 2,
    "seeds": 2,
    "variants": ["main"],
    "top_p": 0.9,
    "temperature": 1.0,
}
SIGNATURE = "n2,stride1,l2,s2,main,p0.9,T1"
SOURCE = CredentialedSource(read=iter, columns=(), licence="", access="")
BENCHMARKS = {"op": Benchmark("op", "op", "factuality", "open", SOURCE, dict, {})}
ITEM = OpenItem("op:1", "op", "Q?", "Reference.", "Q?", must_have=("a", "b"), nice_to_have=("c",))


def job(stage, answers=()):
    return Job(stage, "m", 1, [ITEM], BENCHMARKS, SETTINGS, answers=answers)


def completion(index, token_ids, log_probabilities):
    return Generation(
        "op:1", "op", "m", "fixed", index, "", "length", token_ids=token_ids, token_log_probabilities=log_probabilities
    )


# Two seeds of two completions each; those of seed 0 share their first token.
COMPLETIONS = [
    completion(0, (5, 6), (-1.0, -1.0)),
    completion(1, (5, 7), (-1.0, -2.0)),
    completion(2, (5, 6), (-1.0, -1.0)),
    completion(3, (8, 9), (-2.0, -2.0)),
]


def test_every_seed_samples_its_own_completions():
    requests = completions.requests(job("completions"))
    assert [(r.variant, r.index, r.max_new_tokens, r.suppress_end) for r in requests] == [
        ("fixed", index, 2, True) for index in range(4)
    ]
    assert len({r.seed for r in requests}) == 4


def test_each_statement_is_asked_after_the_prefixes_that_count():
    asked = [(r.variant, r.index, r.positions) for r in relaxed.requests(job("relaxed", COMPLETIONS))]
    texts = ("must_have/0", "must_have/1", "nice_to_have/0")
    # Of equal prefixes (the empty one; the token 5 of seed 0) the better completion's is asked.
    assert sorted(asked) == sorted(
        [(f"fixed/{t}", 0, (0, 1, 2)) for t in texts]
        + [(f"fixed/{t}", 1, (2,)) for t in texts]
        + [(f"fixed/{t}", 2, (0, 1, 2)) for t in texts]
        + [(f"fixed/{t}", 3, (1, 2)) for t in texts]
    )


def branches(index, positions, text, value):
    return BranchLikelihoods("op:1", "op", "m", f"fixed/{text}", index, positions, (value,) * len(positions), 3)


def test_scores_are_means_over_statements_one_a_seed():
    likelihoods = [
        branches(index, positions, text, math.log(probability))
        for text, probability in (("must_have/0", 0.1), ("must_have/1", 0.2), ("nice_to_have/0", 0.4))
        for index, positions in ((0, (0, 1, 2)), (1, (2,)), (2, (0, 1, 2)), (3, (1, 2)))
    ]
    scores = list(metric.scores({ITEM.id: ITEM}, [*COMPLETIONS, *likelihoods], SETTINGS))
    found = {(s.metric, s.index): s.value for s in scores}
    # Seed 0: one, one and two prefixes at positions 0, 1, 2; seed 1: one, two and two.
    for seed, counts in ((0, (1, 1, 2)), (1, (1, 2, 2))):
        must = [-sum(math.log(count * p) for count in counts) for p in (0.1, 0.2)]
        nice = -sum(math.log(count * 0.4) for count in counts)
        assert found[f"relaxed_cross_entropy_sum[must_have,{SIGNATURE}]", seed] == pytest.approx(sum(must) / 2)
        assert found[f"relaxed_cross_entropy_sum[nice_to_have,{SIGNATURE}]", seed] == pytest.approx(nice)
        # n = 2 tokens, 3 tokens of the statement: the divisor is 5.
        expected = sum(math.exp(c / 5) for c in must) / 2
        assert found[f"relaxed_perplexity[must_have,{SIGNATURE}]", seed] == pytest.approx(expected)
        assert found[f"relaxed_anywhere[nice_to_have,{SIGNATURE}]", seed] == pytest.approx(-math.log(0.4))
    assert not [name for name, _ in found if "[reference" in name]


def test_every_score_has_a_described_metric():
    likelihoods = [
        branches(i, (0, 1, 2), t, -1.0) for i in range(4) for t in ("must_have/0", "must_have/1", "nice_to_have/0")
    ]
    scores = metric.scores({ITEM.id: ITEM}, [*COMPLETIONS, *likelihoods], SETTINGS)
    assert {s.metric for s in scores} <= {m.name for m in metric.metrics(SETTINGS)}
