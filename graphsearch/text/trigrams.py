"""Similarity of names by trigrams, as all stores compute it, and the words by which a name is found."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from math import ceil
from string import ascii_lowercase
from typing import Final
from zlib import crc32

MAX_NAME_WORDS: Final = 32
"""Maximum words by which a name is found: longer text is no name."""
MAX_WORD_LENGTH: Final = 64

SMALL_WORDS: Final = frozenset(
    "the of and for in on at to a an de la le et und fur der die das y e".split()  # noqa: SIM905 - as in stop_words
)
"""Words that initials may skip."""

_NAME_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*[+#]*")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DIACRITICS: Final = re.compile("[\u0300-\u036f]+")
_PLAIN: Final = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})
_MARKS: Final = frozenset({"Mn", "Mc"})
_SLACK: Final = 1 - 1e-6
"""A share is rounded: the least that is alike must not be missed for it."""


@lru_cache(maxsize=1 << 14)
def trigrams(name: str) -> frozenset[str]:
    """The runs of three characters of each word, padded "  word ".

    Words are runs of letters, digits and signs of vowels, folded. A text without words has the empty set.
    """
    found: set[str] = set()
    kept = (each if each.isalnum() or unicodedata.category(each) in _MARKS else " " for each in fold(name))
    for word in "".join(kept).split():
        if not any(map(str.isalnum, word)):
            continue
        padded = f"  {word} "
        found.update([padded[at : at + 3] for at in range(len(word) + 1)])
    return frozenset(found)


def similarity(a: str, b: str) -> float:
    """|A ∩ B| / |A ∪ B| of the trigrams, in [0, 1]."""
    return overlap(trigrams(a), trigrams(b))


def overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """The `similarity` of two sets of trigrams."""
    if not a or not b:
        return 0.0
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)


@lru_cache(maxsize=1 << 14)
def index_trigrams(name: str, threshold: float) -> tuple[str, ...]:
    """Trigrams to look a name up by: two names of `similarity` ≥ ``threshold``, in (0, 1], share at least one.

    The prefix filter of set-similarity joins: with trigrams in a fixed order, |A ∩ B| ≥ t·|A ∪ B| ≥ t·|A| implies that
    the first |A| − ⌈t·|A|⌉ + 1 of both intersect. Beginnings of words, which many names share, come last in the order.
    """
    ordered = sorted(trigrams(name), key=_rarity)
    return tuple(ordered[: len(ordered) - ceil(threshold * len(ordered) * _SLACK) + 1]) if ordered else ()


def fold(text: str) -> str:
    """Fold the spelling of a name: NFKC, lower case, no diacritics (Latin, Greek …)."""
    if text.isascii():
        return text.lower()
    plain = _DIACRITICS.sub("", unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold()))
    return unicodedata.normalize("NFC", plain).translate(_PLAIN)


@lru_cache(maxsize=1 << 14)
def spoken_words(name: str) -> tuple[str, ...]:
    """The folded words of a name in order, without apostrophes; "C++" and "F#" keep their signs."""
    return tuple(word.replace("'", "").replace("’", "")[:MAX_WORD_LENGTH] for word in _NAME_WORD.findall(fold(name)))


def one_letter_off(word: str) -> frozenset[str]:
    """The words that one letter makes of a folded word: one missing, added, wrong, or swapped with the next.

    The first letter stays: it is rarely mistyped; so does the last, unless it is missing or added ("Mario", "Maria").
    None of a word of more than 24 letters, which would have thousands.
    """
    if len(word) > 24:  # noqa: PLR2004
        return frozenset()
    parts = [(word[:at], word[at:]) for at in range(1, len(word) + 1)]
    letters = frozenset(ascii_lowercase + word)
    made = {head + tail[1:] for head, tail in parts if tail}
    made |= {head + tail[1] + tail[0] + tail[2:] for head, tail in parts if len(tail) > 1}
    made |= {head + letter + tail for head, tail in parts for letter in letters}
    made |= {head + letter + tail[1:] for head, tail in parts if len(tail) > 1 for letter in letters}
    return frozenset(made) - {word}


def initials(name: str) -> tuple[str, str]:
    """The initials of a name, with camelCase split: those of all words, and those without small words.

    Both are empty for a single word. "MIT" skips a word of "Massachusetts Institute of Technology", "BoA" skips none
    of "Bank of America".
    """
    words = spoken_words(_CAMEL.sub(" ", name))[:MAX_NAME_WORDS]
    if len(words) < 2:  # noqa: PLR2004 - one word
        return "", ""
    return "".join(word[0] for word in words), "".join(word[0] for word in words if word not in SMALL_WORDS)


@lru_cache(maxsize=1 << 14)
def name_words(name: str) -> tuple[str, ...]:
    """The distinct words by which a name is found: its own, all of them joined, and its initials.

    "International Business Machines" is also found by "ibm", and "scikit-learn" by "scikitlearn".
    """
    words = spoken_words(name)[:MAX_NAME_WORDS]
    found = [*words, "".join(words)[:MAX_WORD_LENGTH], *initials(name)]
    return tuple(dict.fromkeys(word for word in found if word))


@lru_cache(maxsize=1 << 16)
def _rarity(trigram: str) -> tuple[int, int, str]:
    return len(trigram) - len(trigram.lstrip(" ")), crc32(trigram.encode()), trigram
