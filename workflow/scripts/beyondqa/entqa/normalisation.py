"""From surface mentions to the entities that are counted: filter, normalise, de-duplicate."""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Iterable
from pathlib import Path

RESOURCES = Path(__file__).resolve().parents[4] / "resources" / "entqa"

PUNCTUATION = str.maketrans("", "", string.punctuation)
LEADING_WORD = re.compile(r"^(?:the|an?|his|her)\s+")
DECIMAL_POINT = re.compile(r"(\d+)\s*\.\s*(\d+)")
JOINER = re.compile(r"\s*([/-])\s*")


def entities(mentions: Iterable[str]) -> list[str]:
    """The entities of one text: kept, normalised and de-duplicated mentions, in their order.

    The steps are the paper's code's, in its order.
    """
    return deduplicate(filter(None, map(entity_of, mentions)))


@functools.lru_cache(maxsize=100_000)
def entity_of(mention: str) -> str:
    """The entity that a mention names, "" where it names none."""
    return normalise(mention) if is_kept(mention) else ""


def is_kept(mention: str) -> bool:
    """Whether a mention can be an entity: no word piece ("##itis"), no fixed phrase, not stop words alone.

    ASCII punctuation is taken off first, so that "=" and "'s" have nothing but stop words.
    """
    phrase = mention.strip().lower()
    bare = phrase.translate(PUNCTUATION)
    return (
        not phrase.startswith("#")
        and bare not in word_list("phrases_left_out")
        and not word_list("stop_words").issuperset(bare.split())
    )


def normalise(mention: str) -> str:
    """Lower case, one leading article or possessive off, no blanks around decimal points, "/" and "-".

    Blanks are single and degree units keep their capital. "" where nothing is left.
    """
    text = LEADING_WORD.sub("", " ".join(mention.lower().split()))
    text = JOINER.sub(r"\1", DECIMAL_POINT.sub(r"\1.\2", text))
    return text.replace("°c", "°C").replace("°f", "°F")


def deduplicate(phrases: Iterable[str]) -> list[str]:
    """The phrases that are part of no other one, each once, in order of first appearance.

    A phrase that is a substring of another goes. Which ones stay does not depend on the order.
    """
    distinct = list(dict.fromkeys(phrases))
    kept: set[str] = set()
    longer = ""
    for phrase in sorted(distinct, key=len, reverse=True):
        if phrase not in longer:
            kept.add(phrase)
            longer += f"\n{phrase}"
    return [phrase for phrase in distinct if phrase in kept]


@functools.cache
def word_list(name: str) -> frozenset[str]:
    """The lines of a list among the resources, comments left out."""
    lines = (RESOURCES / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))
