"""A light English stemmer: "cities" and "city" share a stem, so do "hopes", "hoped", "hoping" and "hope".

It removes the plural (the S-stemmer of Harman, How Effective Is Suffixing?, 1991), then -ed, -ing, a silent -e and -y,
much as the first step of Porter, An Algorithm for Suffix Stripping (1980). Derivational endings (-ation, -ness, -al)
are kept: recall is nearly that of a full stemmer, with fewer conflations ("hop" and "hope" is one that remains).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_VOWEL: Final = re.compile("[aeiouy]")
_SHORTEST: Final = 3
"""Least letters of a stem before -ed and -ing: in "red" and "king" these are no endings."""


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """The stem of a lower-case word, never empty; a word that is not all a to z is its own stem."""
    if not (word.isascii() and word.isalpha()):
        return word
    word = _uninflected(_singular(word))
    if len(word) > _SHORTEST and word.endswith("e"):
        return word[:-1]
    if word.endswith("y") and not _VOWEL.match(word[-2:-1] or "a"):
        return f"{word[:-1]}i"
    return word


def _singular(word: str) -> str:
    if len(word) <= _SHORTEST or not word.endswith("s") or word.endswith(("us", "ss")):
        return word
    if word.endswith("ies") and not word.endswith(("aies", "eies")):
        return f"{word[:-3]}y"
    return word[:-1]


def _uninflected(word: str) -> str:
    if word.endswith("eed"):  # "agreed", but not "need"
        return word[:-1] if _VOWEL.search(word, 0, len(word) - 3) else word
    ending = 2 if word.endswith("ed") else 3 if word.endswith("ing") else 0
    stem = word[: len(word) - ending]
    if not ending or len(stem) < _SHORTEST or not _VOWEL.search(stem):
        return word
    doubled = stem[-1] == stem[-2] and stem[-1] not in "aeioulsz"  # "stopped", but not "seeing", "called", "passing"
    return stem[:-1] if doubled else stem
