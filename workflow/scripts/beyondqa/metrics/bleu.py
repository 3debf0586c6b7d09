"""BLEU of single answers and of a corpus, and its n-gram precisions.

Definition: Papineni and others, "BLEU: a method for automatic evaluation of machine translation" (2002), order
4, on mteval-v13a tokens. The variants, which are not comparable:

- `bleu[evaluate,13a,nosmooth]`, the papers': one answer at a time, no smoothing, in [0, 1], 1e-5 in the place
  of 0 (lm-evaluation-harness's CareQA task over the package `evaluate`).
- `bleu[sacrebleu,13a,exp,effective]`: sacrebleu's sentence BLEU, smoothed, in [0, 100].
- `bleu_precision1[13a]` and `bleu_precision4[13a]`: the clipped unigram and 4-gram precisions alone, in [0, 1],
  which EntQA's code reports as BLEU-1 and BLEU-4.
- `bleu[sacrebleu,13a,exp,corpus]`: sacrebleu's corpus BLEU, in [0, 100], by `corpus_bleu`: one value a corpus,
  no mean over answers.
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
SENTENCE = "bleu[sacrebleu,13a,exp,effective]"
PRECISION_1 = "bleu_precision1[13a]"
PRECISION_4 = "bleu_precision4[13a]"

# Name -> label, largest value, whether it is the papers' own.
VARIANTS = {
    EVALUATE: ("BLEU", 1.0, True),
    SENTENCE: ("BLEU (sacrebleu, 0-100)", 100.0, False),
    PRECISION_1: ("Unigram precision", 1.0, False),
    PRECISION_4: ("4-gram precision", 1.0, False),
}


def metrics(settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    return tuple(
        Metric(
            name=name,
            label=label,
            higher_is_better=True,
            minimum=0.0,
            maximum=maximum,
            floor=0.0,
            group="bleu",
            headline=headline,
        )
        for name, (label, maximum, headline) in VARIANTS.items()
    )


def values(pairs: Sequence[tuple[str, str]], settings: Mapping[str, Any], *, threads: int = 1) -> Values:
    """The four variants of each (prediction, reference) pair."""
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    tokenizer = Tokenizer13a()
    columns: dict[str, list[float | None]] = {name: [None] * len(pairs) for name in VARIANTS}
    for reference, indices in by_reference(pairs):
        prepared = _prepare(reference, tokenizer)
        for index in indices:
            matches = _match(_prepare(pairs[index][0], tokenizer), prepared)
            columns[EVALUATE][index] = _bleu(matches, smooth_method="none") / 100 or EVALUATE_ZERO
            columns[SENTENCE][index] = _bleu(matches, smooth_method="exp", effective_order=True)
            columns[PRECISION_1][index] = _precision(matches, 1)
            columns[PRECISION_4][index] = _precision(matches, 4)
    return Values(columns, signature={"sacrebleu": version("sacrebleu"), "tokenizer": "13a", "order": ORDER})


def corpus_bleu(predictions: Sequence[str], references: Sequence[str]) -> float:
    """sacrebleu's corpus BLEU with its defaults, one reference a prediction, in [0, 100]. It weighs answers by
    their length and is no mean of sentence values."""
    import sacrebleu

    return sacrebleu.corpus_bleu(list(predictions), [list(references)]).score


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


def _bleu(matches: _Matches, **variant: Any) -> float:
    from sacrebleu.metrics import BLEU

    return BLEU.compute_bleu(list(matches.correct), list(matches.total), *matches.lengths, **variant).score


def _precision(matches: _Matches, order: int) -> float:
    total = matches.total[order - 1]
    return matches.correct[order - 1] / total if total else 0.0
