"""BLEU of single answers.

Definition: Papineni and others, "BLEU: a method for automatic evaluation of machine translation" (2002).
`bleu[evaluate,13a,nosmooth]` is the authors' variant (the `evaluate` package, one answer at a time): order 4,
tokens of mteval-v13a, no smoothing, in [0, 1], and 1e-5 in the place of 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

from ._groups import by_reference
from .base import Metric, Values

FAMILY = "lexical"
ENVIRONMENT = "analysis"
INPUT = "answers"

ORDER = 4
EVALUATE = "bleu[evaluate,13a,nosmooth]"
EVALUATE_ZERO = 1e-5


def metrics(settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    return (
        Metric(name=EVALUATE, label="BLEU", higher_is_better=True, minimum=0.0, maximum=1.0, floor=0.0, group="bleu"),
    )


def values(pairs: Sequence[tuple[str, str]], settings: Mapping[str, Any], *, threads: int = 1) -> Values:
    """BLEU of each (prediction, reference) pair, each variant under its name."""
    from sacrebleu.metrics import BLEU
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    tokenizer = Tokenizer13a()
    column: list[float | None] = [None] * len(pairs)
    for reference, indices in by_reference(pairs):
        prepared = _prepare(reference, tokenizer)
        for index in indices:
            matches = _match(_prepare(pairs[index][0], tokenizer), prepared)
            bleu = BLEU.compute_bleu(list(matches.correct), list(matches.total), *matches.lengths)
            column[index] = bleu.score / 100 or EVALUATE_ZERO
    return Values({EVALUATE: column}, signature={"sacrebleu": version("sacrebleu"), "tokenizer": "13a"})


class _Text(NamedTuple):
    ngrams: Counter
    length: int


class _Matches(NamedTuple):
    correct: list[int]
    total: list[int]
    lengths: tuple[int, int]


def _prepare(text: str, tokenizer) -> _Text:
    from sacrebleu.metrics.helpers import extract_all_word_ngrams

    return _Text(*extract_all_word_ngrams(tokenizer(text.rstrip()), 1, ORDER))


def _match(prediction: _Text, reference: _Text) -> _Matches:
    """Clipped n-gram matches and n-grams of the prediction for n = 1 to 4, and the lengths of both in tokens."""
    correct = [0] * ORDER
    for ngram in prediction.ngrams.keys() & reference.ngrams.keys():
        correct[len(ngram) - 1] += min(prediction.ngrams[ngram], reference.ngrams[ngram])
    total = [max(prediction.length - n, 0) for n in range(ORDER)]
    return _Matches(correct, total, (prediction.length, reference.length))
