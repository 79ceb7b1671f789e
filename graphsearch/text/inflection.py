"""Forms of one English word folded together: "cities" and "city", "hopes", "hoped", "hoping" and "hope".

What is folded is the plural (the S-stemmer of Harman, How Effective Is Suffixing?, 1991), then -ed, -ing, a silent -e
and -y, much as in the first step of Porter, An Algorithm for Suffix Stripping (1980). Endings that make another word
(-ation, -ness, -al) are left alone: that finds nearly as much as a whole stemmer,
and confuses fewer words ("hop" and "hope" it does).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_VOWEL: Final = re.compile("[aeiouy]")
_SHORTEST: Final = 3
"""Letters that -ed and -ing leave at least: of "red" and "king" they are a part."""


@lru_cache(maxsize=65_536)
def folded(word: str) -> str:
    """What the forms of a lower-case word share: no word itself, but never empty. One not in a to z stays as it is."""
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
