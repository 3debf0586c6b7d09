"""Texts with exactly one edit each, harmful or harmless, drawn from (item id, kind) and nothing else.

Our lists in resources/sensitivity hold only terms whose edit changes (antonyms) or keeps (synonyms, units) the clinical
meaning, with the phrases in which a term means something else. An edit passes on to the next place in the text where it
would not do what it is meant to.
"""

from __future__ import annotations

import csv
import functools
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from .entities import Entity

_FOLDER = Path(__file__).resolve().parents[4] / "resources" / "sensitivity"
LISTS = ("antonyms", "synonyms", "units")

HARMFUL = ("negation", "number", "antonym", "entity")
HARMLESS = ("synonym", "unit")
GRADED = {"drop_25": 0.25, "drop_50": 0.5, "drop_75": 0.75}
CONTROL = "other_answer"
KINDS = (*HARMFUL, *HARMLESS, *GRADED, CONTROL)

_PARTICIPLE = (
    r"(?:been|had|done|gone|seen|taken|given|shown|become|come|got|gotten|found|felt|kept|lost|made|undergone|grown"
    r"|known|begun|broken|fallen|eaten|\w{2,}ed)\b"
)
_AUXILIARY = re.compile(
    r"\b(?P<irregular>cannot|can['’]t|won['’]t|shan['’]t)\b"
    # A main verb takes no "not", so "have" needs its participle and "do" its negation to be auxiliaries.
    rf"|\b(?:(?P<verb>is|are|was|were|could|can|would|will|should|shall|must"
    rf"|(?:has|have|had)(?=(?:n['’]t| not| \w+ly| also)? {_PARTICIPLE})|(?:does|do|did)(?=n['’]t\b| not\b))"
    r"(?P<negation>n['’]t| not)?)\b",
    re.IGNORECASE,
)
_AFFIRMED = {"cannot": "can", "can't": "can", "won't": "will", "shan't": "shall"}
# A name where it begins with a capital.
_NO_AUXILIARIES = ("Will",)
# What, behind an auxiliary, takes the sense from its negation: another negation, "not only", the end of a clause, the
# patient's age, sex or civil status.
_NOT_NEGATED = re.compile(
    r"\s+(?:no|none|nothing|never|nor|neither|without|only|(?:an?\s+)?non-?[a-z]+)\b"
    r"|\s+(?:also|both|here|most|born|married|single|divorced|widowed)\b"
    r"|\s*(?:[^\w\s(]|$)"
    r"|\s+(?:an?\s+)?(?:[\w.-]+\s+){0,2}?(?:\d+|\w+)[\s-]+(?:year|month|week|day)s?[\s-]+old\b"
    r"|\s+an?\s+(?:[\w.-]+\s+){0,3}?(?:male|female|man|woman|boy|girl|gentleman|lady)\b",
    re.IGNORECASE,
)
_NUMBER = r"(?<![\w.,/–-])(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
# Ten times an age is a slip of the pen to any reader, and no error of a dose or a duration.
_NO_AGE = r"(?![\s-]+old\b|\s+of\s+age\b)"
_SENTENCE_END = re.compile(r"(?<=[.!?])(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bMrs\.)(?<!\bvs\.)(\s+)")
_END = re.compile(r"[.!?\n]")
_LIST_NUMBER = re.compile(r"\d+\.")
# How far the dropped share may be from the nominal one, so that the three grades are different ones.
_SHARE_TOLERANCE = 0.125
# Characters around a term in which its opposite, or its synonym, takes the sense from the edit ("mild to severe",
# "magnetic resonance imaging (MRI)").
_NEAR = 40


@functools.cache
def rows(name: str) -> tuple[dict[str, str], ...]:
    """One of our LISTS."""
    with open(_FOLDER / f"{name}.csv", encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def corrupted(texts: Mapping[str, str], entities: Mapping[str, Sequence[Entity]]) -> dict[str, dict[str, str]]:
    """Kind -> item id -> the text with that edit; an item is absent where the kind cannot be applied to it.

    `texts` and `entities` are by item id. Entities and other answers come from these texts and no others.
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
    """The first auxiliary of a statement negated, or its negation taken out."""
    for match in _AUXILIARY.finditer(text):
        if match.group() in _NO_AUXILIARIES or _NOT_NEGATED.match(text, match.end()) or _asks(text, match.end()):
            continue
        if match["irregular"]:
            new = _cased(_AFFIRMED[match.group().lower().replace("’", "'")], match.group())
        else:
            new = match["verb"] if match["negation"] else f"{match['verb']} not"
        return _replaced(text, match.span(), new)
    return None


def tenfold(text: str) -> str | None:
    """The first number with a unit, times ten. Ages stay, and what would exceed the unit's plausible values
    (`at_most` in our list), such as 1,000 heartbeats a minute."""
    most = {row[form]: row["at_most"] for row in rows("units") for form in ("unit", "singular", "plural") if row[form]}
    pattern = rf"{_NUMBER}[ \u00a0-]?(?P<unit>{_alternatives(most)})(?!\w){_NO_AGE}"
    for match in re.finditer(pattern, text):
        number = Decimal(match["number"].replace(",", "")) * 10
        if number > Decimal(most[match["unit"]] or "Infinity"):
            continue
        digits = f"{number:,f}" if "," in match["number"] else f"{number:f}"
        if "." in digits:
            digits = digits.rstrip("0").rstrip(".")
        return _replaced(text, match.span("number"), digits)
    return None


def unit_spelled_out(text: str) -> str | None:
    """The first abbreviated unit after a number, in full."""
    names = {row["unit"]: row for row in rows("units") if row["unit"]}
    match = re.search(rf"{_NUMBER}(?P<old>[ \u00a0]?(?P<unit>{_alternatives(names)})(?!\w))", text)
    if not match:
        return None
    name = names[match["unit"]]["singular" if match["number"] == "1" else "plural"]
    return _replaced(text, match.span("old"), f" {name}")


def antonym(text: str) -> str | None:
    """The first term of our list of antonyms, swapped."""
    return next((_replaced(text, span, new) for span, new in _swaps(text, _antonyms())), None)


def synonym(text: str) -> str | None:
    """The first term of our list of synonyms and abbreviations, replaced."""
    return next((_replaced(text, span, new) for span, new in _swaps(text, _synonyms())), None)


def entity_replaced(item: str, text: str, entities: Mapping[str, Sequence[Entity]]) -> str | None:
    """One entity, replaced by one of its type that another item has and this one has not, nor a wider or narrower
    one."""
    draw = random.Random(f"{item}\tentity")
    for entity in draw.sample(list(entities[item]), len(entities[item])):
        names = sorted(
            {
                other.text
                for found in entities.values()
                for other in found
                if other.type == entity.type and not any(other.same_as(own) for own in entities[item])
            }
        )
        if names:
            alike = [name for name in names if name[0].isupper() == entity.text[0].isupper()]
            return _replaced(text, (entity.start, entity.end), _cased(draw.choice(alike or names), entity.text))
    return None


def sentences_dropped(item: str, text: str, share: float) -> str | None:
    """The text without about that share of its sentences; a larger share drops those of a smaller one too."""
    sentences = _sentences(text.strip())
    count = int(len(sentences) * share + 0.5)
    if not 0 < count < len(sentences) or abs(count / len(sentences) - share) > _SHARE_TOLERANCE:
        return None
    order = random.Random(f"{item}\tdrop").sample(range(len(sentences)), len(sentences))
    return "".join(sentences[i] for i in sorted(order[count:])).rstrip()


def other_answer(item: str, texts: Mapping[str, str]) -> str | None:
    """The text of another item that differs."""
    others = sorted(other for other, text in texts.items() if text != texts[item])
    return texts[random.Random(f"{item}\t{CONTROL}").choice(others)] if others else None


class _Terms:
    """Terms with what replaces them. A term with a capital needs its case, any other none.

    `replaced` is term -> new term; `exceptions` are phrases in which the term is not meant; `spoilers` are the words
    that must not stand near a term.
    """

    def __init__(
        self, replaced: Mapping[str, str], exceptions: Iterable[str], spoilers: Callable[[str, str], Iterable[str]]
    ):
        self.replaced = replaced
        cased = [term for term in replaced if term != term.lower()]
        caseless = [term for term in replaced if term == term.lower()]
        self.pattern = re.compile(rf"{_any_of(cased)}|(?i:{_any_of(caseless)})")
        self.exceptions = re.compile(f"(?i:{_any_of(exceptions)})")
        self.spoilers = {term: re.compile(f"(?i:{_any_of(spoilers(term, new))})") for term, new in replaced.items()}


@functools.cache
def _antonyms() -> _Terms:
    found = rows("antonyms")
    opposites = {row["word"]: row["antonym"] for row in found} | {row["antonym"]: row["word"] for row in found}
    return _Terms(opposites, _exceptions(found), lambda old, new: set(new.split()) - set(old.split()))


@functools.cache
def _synonyms() -> _Terms:
    found = rows("synonyms")
    return _Terms({row["term"]: row["synonym"] for row in found}, _exceptions(found), lambda old, new: {new})


def _exceptions(found: Iterable[Mapping[str, str]]) -> set[str]:
    return {phrase for row in found for phrase in row["except"].split(";") if phrase}


def _swaps(text: str, terms: _Terms) -> Iterator[tuple[tuple[int, int], str]]:
    """The terms of a text that can be replaced, with what replaces them."""
    excepted = [match.span() for match in terms.exceptions.finditer(text)]
    for match in terms.pattern.finditer(text):
        old = match.group()
        term = old if old in terms.replaced else old.lower()
        around = text[max(0, match.start() - _NEAR) : match.start()], text[match.end() : match.end() + _NEAR]
        spoilt = any(terms.spoilers[term].search(part) for part in around)
        if not spoilt and not any(start <= match.start() and match.end() <= end for start, end in excepted):
            yield match.span(), _cased(terms.replaced[term], old) if term != old else terms.replaced[term]


def _asks(text: str, position: int) -> bool:
    """Whether the sentence around the position ends with a question mark."""
    end = _END.search(text, position)
    return bool(end) and end.group() == "?"


def _sentences(text: str) -> list[str]:
    """Sentences with the white space behind them; the number of a list belongs to the sentence that it counts."""
    pieces = _SENTENCE_END.split(text)
    found = [sentence + space for sentence, space in zip(pieces[::2], [*pieces[1::2], ""], strict=True)]
    joined: list[str] = []
    for sentence in found:
        if joined and _LIST_NUMBER.fullmatch(joined[-1].strip()):
            joined[-1] += sentence
        else:
            joined.append(sentence)
    return joined


def _any_of(words: Iterable[str]) -> str:
    """A pattern for any of the words, whole."""
    return rf"(?<!\w){_alternatives(words)}(?!\w)"


def _alternatives(words: Iterable[str]) -> str:
    """A pattern for any of the words, the longest first; nothing where there is none."""
    return f"(?:{'|'.join(map(re.escape, sorted(words, key=lambda word: (-len(word), word)))) or '(?!)'})"


def _cased(new: str, old: str) -> str:
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def _replaced(text: str, span: tuple[int, int], new: str) -> str:
    return text[: span[0]] + new + text[span[1] :]
