"""Drugs, diseases and symptoms of a text, from the dictionaries of the stand-in extractor.

The dictionaries also hold classes ("antibiotics", "infections"), body substances ("uric acid") and words of everyday
life that MeSH has a heading for ("lifestyle", "goals"). Replacing one of those is no clinical error, so a name counts
only where its entry says what it is: a drug has a DrugBank number and a page for patients; a disease stands at the
third level or below of MeSH's trees of diseases; a symptom stands among MeSH's signs and symptoms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Trees of diseases by organ and cause, without C23 (processes, signs), C25 (chemically induced) and C26 (injuries).
_DISEASE = re.compile(r"(?:C(?:0[1-9]|1\d|20)|F03)\.\d+\.\d+")
_SYMPTOM = re.compile(r"C23\.888\.")
# Common words that are spelled like a name.
_HOMONYMS = {"affect", "aids", "aura", "auras", "burning", "sits"}


@dataclass(frozen=True)
class Entity:
    """A mention at [start, end) in characters, of the type "drug", "disease" or "symptom".

    `name` is the dictionary's own name of it, `trees` its places in MeSH.
    """

    text: str
    start: int
    end: int
    type: str
    name: str
    trees: tuple[str, ...] = ()

    def same_as(self, other: Entity) -> bool:
        """Whether both name the same, or one of them a kind of the other."""
        below = any(a == b or a.startswith(f"{b}.") or b.startswith(f"{a}.") for a in self.trees for b in other.trees)
        return self.name == other.name or below


def entities(texts: Mapping[str, str]) -> dict[str, list[Entity]]:
    """Drugs, diseases and symptoms of each text in order of place; of overlapping names the longest, whatever it is,
    hides the others."""
    from ..entqa.extractors import dictionary_names, longest

    found = {}
    for item, text in texts.items():
        named = {mention: data for mention, data in dictionary_names(text)}
        typed = [(mention, kind(named[mention])) for mention in longest(named)]
        found[item] = [
            Entity(m.text, m.start, m.end, what, named[m]["name"], tuple(named[m].get("mesh_tree") or ()))
            for m, what in typed
            if what and m.text.lower() not in _HOMONYMS
        ]
    return found


def kind(entry: Mapping[str, Any]) -> str:
    """What an entry of the dictionaries is: "drug", "disease", "symptom" or "" for anything else."""
    if entry.get("drugbank_id"):
        return "drug" if entry.get("medline_plus_id") or entry.get("nhs_url") else ""
    trees: Sequence[str] = entry.get("mesh_tree") or ()
    if any(_SYMPTOM.match(tree) for tree in trees):
        return "symptom"
    return "disease" if any(_DISEASE.match(tree) for tree in trees) else ""
