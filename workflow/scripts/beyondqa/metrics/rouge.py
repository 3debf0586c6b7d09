"""ROUGE-1, ROUGE-2, ROUGE-L and ROUGE-Lsum, F1, one reference an answer.

Definitions: Lin, "ROUGE: a package for automatic evaluation of summaries" (2004), as the package rouge-score
computes them without its stemmer; `rougeL` is of the whole text, `rougeLsum` of its lines (union of the
longest common subsequences, no token counted twice). Values are in [0, 1].
"""

from __future__ import annotations

import itertools
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple

from ._groups import by_reference
from ._lcs import lcs_indices, lcs_length, positions
from .base import Metric, Values

FAMILY = "lexical"
ENVIRONMENT = "analysis"
INPUT = "answers"

LABELS = {"rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeL": "ROUGE-L", "rougeLsum": "ROUGE-Lsum"}


def metrics(settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    """Four metrics a tokenizer. `tokenizers`: "default" (rouge-score's, ASCII letters and digits alone) and
    "unicode" (letters, marks and digits of every script)."""
    return tuple(
        Metric(
            name=_name(kind, tokenizer),
            label=label if tokenizer == "default" else f"{label} ({tokenizer})",
            higher_is_better=True,
            minimum=0.0,
            maximum=1.0,
            floor=0.0,
            group=kind if kind != "rougeLsum" else "rougeL",
            headline=tokenizer == "default" and kind != "rougeLsum",
        )
        for tokenizer in _tokenizers(settings)
        for kind, label in LABELS.items()
    )


def values(pairs: Sequence[tuple[str, str]], settings: Mapping[str, Any], *, threads: int = 1) -> Values:
    """F1 of each (prediction, reference) pair. A text without a token scores 0."""
    columns: dict[str, list[float | None]] = {}
    for tokenizer in _tokenizers(settings):
        tokenize = TOKENIZERS[tokenizer]
        names = [_name(kind, tokenizer) for kind in LABELS]
        columns |= {name: [None] * len(pairs) for name in names}
        for reference, indices in by_reference(pairs):
            prepared = _prepare(reference, tokenize)
            for index in indices:
                scores = _scores(_prepare(pairs[index][0], tokenize), prepared)
                for name, score in zip(names, scores, strict=True):
                    columns[name][index] = score
    signature = {
        "rouge-score": version("rouge-score"),
        "stemmer": False,
        "measure": "F1",
        "tokenizers": list(_tokenizers(settings)),
        "unicode": unicodedata.unidata_version,
    }
    return Values(columns, signature=signature)


def tokenize_default(text: str) -> list[str]:
    """rouge-score's tokens: lower-case runs of ASCII letters and digits."""
    from rouge_score.tokenize import tokenize

    return tokenize(text, None)


def tokenize_unicode(text: str) -> list[str]:
    """Case-folded runs of letters, marks and digits of any script after NFKC; each Han or kana sign is a token.

    On ASCII text they are rouge-score's tokens.
    """
    import regex

    return regex.findall(
        r"[\p{Han}\p{Hiragana}\p{Katakana}]|(?:(?![\p{Han}\p{Hiragana}\p{Katakana}])[\p{L}\p{M}\p{N}])+",
        unicodedata.normalize("NFKC", text).casefold(),
    )


TOKENIZERS: dict[str, Callable[[str], list[str]]] = {"default": tokenize_default, "unicode": tokenize_unicode}


class _Text(NamedTuple):
    tokens: list[str]
    unigrams: Counter
    bigrams: Counter
    positions: dict[str, int]
    lines: list[tuple[str, ...]]
    line_positions: dict[tuple[str, ...], dict[str, int]]  # of the distinct lines: a model may repeat one for ever


def _prepare(text: str, tokenize: Callable[[str], list[str]]) -> _Text:
    lines = [tuple(tokens) for line in text.split("\n") if (tokens := tokenize(line))]
    tokens = [token for line in lines for token in line]
    return _Text(
        tokens,
        Counter(tokens),
        Counter(itertools.pairwise(tokens)),
        positions(tokens),
        lines,
        {line: positions(line) for line in set(lines)},
    )


def _scores(prediction: _Text, reference: _Text) -> tuple[float, float, float, float]:
    lengths = len(prediction.tokens), len(reference.tokens)
    longest = lcs_length(prediction.tokens, reference.positions, len(reference.tokens))
    return (
        _f1((prediction.unigrams & reference.unigrams).total(), *lengths),
        _f1((prediction.bigrams & reference.bigrams).total(), lengths[0] - 1, lengths[1] - 1),
        _f1(longest, *lengths),
        _f1(_union_hits(prediction, reference), *lengths),
    )


def _union_hits(prediction: _Text, reference: _Text) -> int:
    """Tokens of the reference's lines in the union of their subsequences with each line of the prediction.

    As rouge-score counts them (section 3.2 of Lin 2004): no token counts more often than either text has it.
    """
    left = Counter(prediction.unigrams)
    left_in_reference = Counter(reference.unigrams)
    hits = 0
    for line in reference.lines:
        union: set[int] = set()
        for other, bits in prediction.line_positions.items():
            if not bits.keys().isdisjoint(line):
                union.update(lcs_indices(line, bits, len(other)))
        for index in sorted(union):
            token = line[index]
            if left[token] > 0 and left_in_reference[token] > 0:
                hits += 1
                left[token] -= 1
                left_in_reference[token] -= 1
    return hits


def _f1(hits: int, prediction_total: int, reference_total: int) -> float:
    """Harmonic mean of hits / prediction_total and hits / reference_total."""
    return 2 * hits / (prediction_total + reference_total) if hits else 0.0


def _name(kind: str, tokenizer: str) -> str:
    return f"{kind}[nostem]" if tokenizer == "default" else f"{kind}[nostem,{tokenizer}]"


def _tokenizers(settings: Mapping[str, Any]) -> Sequence[str]:
    return settings.get("tokenizers", ["default"])
