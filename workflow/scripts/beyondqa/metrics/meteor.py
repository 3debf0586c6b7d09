"""METEOR as NLTK 3.9.1 computes it, one reference an answer.

Definition: Banerjee and Lavie, "METEOR: an automatic metric for MT evaluation with improved correlation with
human judgments" (2005), with NLTK's defaults (alpha 0.9, beta 3, gamma 0.5), exact, stem and WordNet matches on
word_tokenize tokens, as EntQA's authors computed it. Later NLTK versions tokenise some texts differently, so
that another version is refused. Values are in [0, 1].
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..errors import StudyError
from ._groups import by_reference
from .base import Metric, Values

FAMILY = "lexical"
ENVIRONMENT = "analysis"
INPUT = "answers"

NLTK_VERSION = "3.9.1"
NAME = f"meteor[nltk{NLTK_VERSION}]"
CACHED_WORDS = 2**16
DATA = "resources/nltk_data"
RESOURCES = ("corpora/wordnet", "tokenizers/punkt_tab/english")
# What `fetch` brings to the folder of `data`: a folder in it -> the archive that holds it.
PACKAGES = "https://raw.githubusercontent.com/nltk/nltk_data/gh-pages/packages"
FILES = {name: f"{PACKAGES}/{name}.zip" for name in ("corpora/wordnet", "tokenizers/punkt_tab")}
LICENCE = "WordNet 3.0, MIT"


def metrics(settings: Mapping[str, Any]) -> tuple[Metric, ...]:
    return (
        Metric(name=NAME, label="METEOR", higher_is_better=True, minimum=0.0, maximum=1.0, floor=0.0, group="meteor"),
    )


def values(pairs: Sequence[tuple[str, str]], settings: Mapping[str, Any], *, threads: int = 1) -> Values:
    """METEOR of each (prediction, reference) pair. `data` is the folder with NLTK's wordnet and punkt_tab.

    Raises StudyError where NLTK is another version or its data are absent.
    """
    _require(Path(settings.get("data", DATA)))
    from nltk.corpus import wordnet
    from nltk.stem import PorterStemmer
    from nltk.tokenize import word_tokenize
    from nltk.translate.meteor_score import single_meteor_score

    # Answers to one benchmark share their words: each is stemmed and looked up once.
    stemmer = SimpleNamespace(stem=functools.lru_cache(CACHED_WORDS)(PorterStemmer().stem))
    synonyms = SimpleNamespace(synsets=functools.lru_cache(CACHED_WORDS)(wordnet.synsets))
    column: list[float | None] = [None] * len(pairs)
    for reference, indices in by_reference(pairs):
        tokens = word_tokenize(reference)
        for index in indices:
            answer = word_tokenize(pairs[index][0])
            column[index] = float(single_meteor_score(tokens, answer, stemmer=stemmer, wordnet=synonyms))
    return Values({NAME: column}, signature={"nltk": NLTK_VERSION, "alpha": 0.9, "beta": 3.0, "gamma": 0.5})


def _require(folder: Path) -> None:
    import nltk

    if version("nltk") != NLTK_VERSION:
        raise StudyError(
            f"{NAME} needs NLTK {NLTK_VERSION}, this is {version('nltk')}", remedy=f"pip install nltk=={NLTK_VERSION}"
        )
    for resource in RESOURCES:
        try:
            nltk.data.find(resource, paths=[str(folder)])
        except LookupError as error:
            raise StudyError(
                f"NLTK's {resource} is not there, and METEOR needs it",
                file=folder,
                remedy="Bring it with `snakemake --cores 1 fetch`, or name its folder as metrics.meteor.data",
            ) from error
    if str(folder) not in nltk.data.path:
        nltk.data.path.insert(0, str(folder))
