"""What words are to names: flags of the lexicon, and the closed lists of ``name_words.txt``, as bits of one number."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Final

from graphsearch.names.lexicon import DEMONYM, GIVEN, ORDINARY, PLACE, flags
from graphsearch.text.trigrams import fold
from graphsearch.text.word_lists import data_sections

TITLE, GROUP, FIRM, SITE, CLEAR, LOOSE, OF_HEAD, PARTICLE, NOISE, GRAMMAR = (1 << bit for bit in range(8, 18))
ROLE, ALONE, GENERAL, USING, MOVING, RUNNING, MODIFIER, VERB, UNNUMBERED, COMPOUND = (1 << bit for bit in range(18, 28))
PLAIN: Final = 1 << 28
"""An ordinary word that is neither a given name nor a place."""
INSTITUTION: Final = GROUP | FIRM | SITE
_SECTIONS: Final = (
    *("title", "group", "firm", "site", "clear", "loose", "of_head", "particle", "noise", "grammar"),
    *("role", "alone", "general", "using", "moving", "running", "modifier", "verb", "unnumbered", "compound"),
)
_PREFIX: Final = re.compile(
    r"^(?:anti|auto|co|de|dis|fore|hyper|inter|micro|mid|mini|mis|multi|non|out|over|post|pre|re|semi|sub|super|trans|un"
    r"|under)(?=[a-z]{4})"
)
_SUFFIX: Final = re.compile(r"(?:e?s|ed|ers?|ings?|ly|ness|less|ful|ish|able|y)$")
_STEM: Final = 4
"""Least letters of an ordinary word from which another is made."""


@cache
def _listed() -> Mapping[str, int]:
    marks: dict[str, int] = {}
    for section, words in data_sections("graphsearch.names", "name_words.txt").items():
        for word in words.split():
            marks[word] = marks.get(word, 0) | 1 << 8 + _SECTIONS.index(section)
    return marks


@lru_cache(1 << 16)
def mark(low: str) -> int:
    """What is known of a word in lower case."""
    known = (flags(low) or flags(fold(low)) or _derived(low)) | _listed().get(low, 0)  # "jose" for "josé"
    return known | PLAIN if known & ORDINARY and not known & (GIVEN | PLACE) else known


def _derived(low: str) -> int:
    """`ORDINARY` for an unknown word that is made of ordinary ones: "much-needed", "superheroes".

    "Leeds-based" is such an adjective as "Danish" is.
    """
    parts = low.split("-")
    if len(parts) > 1 and _listed().get(parts[-1], 0) & COMPOUND:
        return ORDINARY | DEMONYM
    if len(parts) > 1:
        return ORDINARY if all(flags(part) & ORDINARY or part.isdecimal() for part in parts) else 0
    stem = _PREFIX.sub("", low)
    stems = (stem, *(_SUFFIX.sub(end, stem) for end in ("", "e", "y")))
    return ORDINARY if any(len(each) >= _STEM and flags(each) & ORDINARY for each in stems) else 0


def own_kind(name: str) -> str:
    """The kind that the words of a name show; "" if they show none."""
    lows = name.casefold().split() or [""]
    return shown_kind(lows, [mark(low) for low in lows])


def shown_kind(lows: Sequence[str], marks: Sequence[int]) -> str:
    """The kind that words in lower case with these marks show."""
    first, last = marks[0], marks[-1]
    called = first & GIVEN and not first & (ORDINARY | PLACE)
    if len(lows) == 1:
        return "person" if called else "place" if first & PLACE and not first & (GIVEN | ORDINARY) else ""
    if flags(" ".join(lows)) & PLACE:
        return "place"  # "Costa Rica"
    if last & SITE:
        return "" if called else "place"  # "Lucille Park" is a person, "Hyde Park" none
    if first & TITLE and not last & INSTITUTION:
        return "person"
    if last & GROUP:
        return "group"
    if last & LOOSE and all(known & PLAIN for known in marks):
        return ""  # "Industrial Design"
    headed = (known for low, known in zip(lows[1:], marks, strict=False) if low == "of" and known & OF_HEAD)
    if known := next((known & (FIRM | SITE) for known in headed), last & FIRM):
        return "organisation" if known & FIRM else "place"
    initials = _is_initial(lows[0]) or (first & GIVEN and len(lows) > 2 and _is_initial(lows[1]))  # noqa: PLR2004
    return "person" if initials or (called and not last & ORDINARY) else ""


def _is_initial(low: str) -> bool:
    return len(low) == 2 and low[1] == "."  # noqa: PLR2004 - "J."
