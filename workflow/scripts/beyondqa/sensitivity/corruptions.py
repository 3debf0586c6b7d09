"""Texts with exactly one edit each, harmful or harmless, drawn from (item id, kind) and nothing else."""

from __future__ import annotations

import csv
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

_FOLDER = Path(__file__).resolve().parents[4] / "resources" / "sensitivity"
LISTS = ("antonyms", "synonyms", "units")

HARMFUL = ("negation", "number", "antonym", "entity")
HARMLESS = ("synonym", "unit")
GRADED = {"drop_25": 0.25, "drop_50": 0.5, "drop_75": 0.75}
CONTROL = "other_answer"
KINDS = (*HARMFUL, *HARMLESS, *GRADED, CONTROL)

_AUXILIARY = re.compile(
    r"\b(?P<irregular>cannot|can['’]t|won['’]t|shan['’]t)\b"
    r"|\b(?P<verb>is|are|was|were|has|have|had|does|do|did|could|can|would|will|should|shall|must|might|may)"
    r"(?P<negation>n['’]t| not)?\b",
    re.IGNORECASE,
)
_AFFIRMED = {"cannot": "can", "can't": "can", "won't": "will", "shan't": "shall"}
# A month and a name where they begin with a capital.
_NO_AUXILIARIES = ("May", "Will")
_NUMBER = r"(?<![\w.,/–-])(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
# How far the dropped share may be from the nominal one, so that the three grades are different ones.
_SHARE_TOLERANCE = 0.125


@dataclass(frozen=True)
class Entity:
    """A mention at [start, end) in characters, of the type "drug" or "disease"."""

    text: str
    start: int
    end: int
    type: str


def rows(name: str) -> list[dict[str, str]]:
    """One of our LISTS."""
    with open(_FOLDER / f"{name}.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def corrupted(texts: Mapping[str, str], entities: Mapping[str, Sequence[Entity]]) -> dict[str, dict[str, str]]:
    """Kind -> item id -> the text with that edit; an item is absent where the kind cannot be applied to it.

    `texts` and `entities` are by item id.
    """
    edits = {
        "negation": negation,
        "number": tenfold,
        "antonym": antonym,
        "synonym": synonym,
        "unit": unit_spelled_out,
    }
    found = {kind: {item: edit(text) for item, text in texts.items()} for kind, edit in edits.items()}
    found["entity"] = {item: entity_replaced(item, text, entities) for item, text in texts.items()}
    for kind, share in GRADED.items():
        found[kind] = {item: sentences_dropped(item, text, share) for item, text in texts.items()}
    found[CONTROL] = {item: other_answer(item, texts) for item in texts}
    return {
        kind: {item: text for item, text in found[kind].items() if text is not None and text != texts[item]}
        for kind in KINDS
    }


def negation(text: str) -> str | None:
    """The first auxiliary negated, or its negation taken out."""
    for match in _AUXILIARY.finditer(text):
        if match.group() in _NO_AUXILIARIES:
            continue
        if match["irregular"]:
            new = _cased(_AFFIRMED[match.group().lower().replace("’", "'")], match.group())
        else:
            new = match["verb"] if match["negation"] else f"{match['verb']} not"
        return _replaced(text, match.span(), new)
    return None


def tenfold(text: str) -> str | None:
    """The first number with a unit, times ten."""
    units = {form for row in rows("units") for form in row.values() if form}
    match = re.search(rf"{_NUMBER}[ \u00a0-]?{_alternatives(units)}(?!\w)", text)
    if not match:
        return None
    number = Decimal(match["number"].replace(",", "")) * 10
    digits = f"{number:,f}" if "," in match["number"] else f"{number:f}"
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return _replaced(text, match.span("number"), digits)


def unit_spelled_out(text: str) -> str | None:
    """The first abbreviated unit after a number, in full."""
    names = {row["unit"]: row for row in rows("units") if row["unit"]}
    match = re.search(rf"{_NUMBER}(?P<old>[ \u00a0]?(?P<unit>{_alternatives(names)})(?!\w))", text)
    if not match:
        return None
    name = names[match["unit"]]["singular" if match["number"] == "1" else "plural"]
    return _replaced(text, match.span("old"), f" {name}")


def antonym(text: str) -> str | None:
    """The first word of our list of antonyms, swapped."""
    pairs = [(row["word"], row["antonym"]) for row in rows("antonyms")]
    opposites = {b: a for a, b in pairs} | dict(pairs)
    match = re.search(_any_of(opposites), text, re.IGNORECASE)
    return _replaced(text, match.span(), _cased(opposites[match.group().lower()], match.group())) if match else None


def synonym(text: str) -> str | None:
    """The first term of our list of synonyms and abbreviations, replaced. An abbreviation needs its capitals."""
    synonyms = {row["term"]: row["synonym"] for row in rows("synonyms")}
    abbreviations = [term for term in synonyms if term.isupper()]
    words = [term for term in synonyms if not term.isupper()]
    match = re.search(rf"{_any_of(abbreviations)}|(?i:{_any_of(words)})", text)
    if not match:
        return None
    old = match.group()
    new = synonyms[old] if old in abbreviations else _cased(synonyms[old.lower()], old)
    return _replaced(text, match.span(), new)


def entity_replaced(item: str, text: str, entities: Mapping[str, Sequence[Entity]]) -> str | None:
    """One entity, replaced by one of its type that another item has and this one has not."""
    own = {entity.text.lower() for entity in entities[item]}
    draw = random.Random(f"{item}\tentity")
    for entity in draw.sample(list(entities[item]), len(entities[item])):
        others = sorted(
            {e.text for other, found in entities.items() if other != item for e in found if e.type == entity.type}
        )
        if others := [name for name in others if name.lower() not in own]:
            return _replaced(text, (entity.start, entity.end), draw.choice(others))
    return None


def sentences_dropped(item: str, text: str, share: float) -> str | None:
    """The text without about that share of its sentences; a larger share drops those of a smaller one too."""
    sentences = _SENTENCE_END.split(text.strip())
    count = int(len(sentences) * share + 0.5)
    if not 0 < count < len(sentences) or abs(count / len(sentences) - share) > _SHARE_TOLERANCE:
        return None
    order = random.Random(f"{item}\tdrop").sample(range(len(sentences)), len(sentences))
    return " ".join(sentences[i] for i in sorted(order[count:]))


def other_answer(item: str, texts: Mapping[str, str]) -> str | None:
    """The text of another item that differs."""
    others = sorted(other for other, text in texts.items() if text != texts[item])
    return texts[random.Random(f"{item}\t{CONTROL}").choice(others)] if others else None


def entities(texts: Mapping[str, str]) -> dict[str, list[Entity]]:
    """Drugs and diseases of each text, found by the dictionary extractor."""
    from drug_named_entity_recognition import find_drugs

    from ..entqa.extractors import TOKEN, Dictionary

    def kind(name: str) -> str:
        return "drug" if find_drugs(TOKEN.findall(name), is_ignore_case=True) else "disease"

    mentions = Dictionary().extract(list(texts.values()))
    return {
        item: [Entity(m.text, m.start, m.end, kind(m.text)) for m in found]
        for item, found in zip(texts, mentions, strict=True)
    }


def _any_of(words: Iterable[str]) -> str:
    """A pattern for any of the words, whole."""
    return rf"(?<!\w){_alternatives(words)}(?!\w)"


def _alternatives(words: Iterable[str]) -> str:
    """A pattern for any of the words, the longest first."""
    return f"(?:{'|'.join(map(re.escape, sorted(words, key=len, reverse=True)))})"


def _cased(new: str, old: str) -> str:
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def _replaced(text: str, span: tuple[int, int], new: str) -> str:
    return text[: span[0]] + new + text[span[1] :]
