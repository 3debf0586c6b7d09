"""The mentions of many texts: found once a distinct text, kept in a journal, turned into entities."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from typing import Any

from ..errors import StudyError
from ..identity import content_key
from ..progress import progress
from ..records import Journal
from .extractors import Extractor, Mention
from .normalisation import entities, entity_of

BATCH = 128
Spans = dict[str, list[tuple[int, int]]]


class Mentions:
    """Mentions by kind and text. Kinds are "entities" and, where a variant counts them, "noun_chunks"."""

    def __init__(self, by_extractor: Mapping[str, Mapping[str, list[Mention]]]):
        self.by_extractor = by_extractor
        self.entities = functools.cache(self._entities)

    def of(self, text: str, *, noun_chunks: bool) -> list[Mention]:
        """Mentions in order of place. Raises StudyError for a text of which none were looked for."""
        names = ("entities", "noun_chunks") if noun_chunks else ("entities",)
        key = content_key(text)
        try:
            found = [mention for name in names for mention in self.by_extractor[name][key]]
        except KeyError as error:
            remedy = "Make the entities again from the same answers"
            raise StudyError("no entities were looked for in a text", record=text[:60], remedy=remedy) from error
        return sorted(found, key=lambda mention: (mention.start, mention.end))

    def _entities(self, text: str, noun_chunks: bool) -> tuple[str, ...]:
        return tuple(entities(mention.text for mention in self.of(text, noun_chunks=noun_chunks)))

    def spans(self, text: str, *, noun_chunks: bool) -> Spans:
        """Entity -> its places in the text, (start, end) in characters."""
        spans: Spans = {entity: [] for entity in self.entities(text, noun_chunks)}
        for mention in self.of(text, noun_chunks=noun_chunks):
            entity = entity_of(mention.text)
            if entity in spans:
                spans[entity].append((mention.start, mention.end))
        return spans

    def records(self) -> Iterator[dict[str, Any]]:
        """Plain values, one a text, for a JSONL file."""
        for key in self.by_extractor["entities"]:
            yield {"key": key, **{name: found[key] for name, found in self.by_extractor.items()}}

    @classmethod
    def of_records(cls, values: Iterable[Mapping[str, Any]]) -> Mentions:
        """What `records` gave."""
        by_extractor: dict[str, dict[str, list[Mention]]] = {"entities": {}}
        for value in values:
            for name in value.keys() - {"key"}:
                by_extractor.setdefault(name, {})[value["key"]] = _read(value[name])
        return cls(by_extractor)


def find(texts: Iterable[str], extractor: Extractor, journal: Journal | None = None) -> dict[str, list[Mention]]:
    """Mentions of each distinct text, by the text's content key.

    The extractor reads only texts of which the journal has nothing, and each batch is committed as it ends.
    """
    keyed = {content_key(text): text for text in texts}
    identity = extractor.identity()
    own_keys = {key: content_key({"text": key, **identity}) for key in keyed}
    with journal.open() if journal else nullcontext() as writer:
        kept = journal.read() if journal else {}
        found = {key: _read(kept[own]["mentions"]) for key, own in own_keys.items() if own in kept}
        missing = [key for key in keyed if key not in found]
        with progress(len(missing), extractor.name) as done:
            for batch in (missing[start : start + BATCH] for start in range(0, len(missing), BATCH)):
                new = dict(zip(batch, extractor.extract([keyed[key] for key in batch]), strict=True))
                if writer:
                    writer.commit([{"key": own_keys[key], "mentions": mentions} for key, mentions in new.items()])
                found |= new
                done.advance(len(batch))
    return {key: found[key] for key in keyed}


def _read(values: Iterable[Iterable[Any]]) -> list[Mention]:
    return [Mention(*value) for value in values]
