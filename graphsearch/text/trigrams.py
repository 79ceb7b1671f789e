"""Similarity of names by the trigrams of Postgres' pg_trgm, and the words by which a name is found.

Reimplemented so that all stores compute the same. The trigrams are those of a UTF-8 database whose locale classifies
Unicode letters (C.UTF-8, any language's UTF-8); the formulas follow the documentation and the source of pg_trgm.
"""

from __future__ import annotations

import re
import struct
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
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

_ASCII_WORD: Final = re.compile(r"[a-z0-9]+")
_NAME_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*[+#]*")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_DIACRITICS: Final = re.compile("[\u0300-\u036f]+")
_PLAIN: Final = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"})
_FLOAT32_SLACK: Final = 1 - 1e-6


@lru_cache(maxsize=1 << 14)
def trigrams(name: str) -> frozenset[str]:
    """The set that pg_trgm's ``show_trgm`` shows: runs of three characters of each word, padded "  word ".

    Words are runs of letters and digits, in lower case. A trigram that is not all ASCII is represented as in pg_trgm:
    by 24 bits of a checksum, written 0x and six digits. A text without words has the empty set.
    """
    found: set[str] = set()
    for word in _ascii_words(name) if name.isascii() else _words(name):
        padded = f"  {word} "
        found.update([padded[at : at + 3] for at in range(len(word) + 1)])
    return frozenset(found if name.isascii() else map(_compact, found))


def similarity(a: str, b: str) -> float:
    """pg_trgm's ``similarity``: |A ∩ B| / |A ∪ B| of the trigrams, in [0, 1], rounded to float32."""
    return overlap(trigrams(a), trigrams(b))


def overlap(a: frozenset[str], b: frozenset[str]) -> float:
    """The `similarity` of two sets of trigrams."""
    if not a or not b:
        return 0.0
    shared = len(a & b)
    ratio: float
    (ratio,) = struct.unpack("f", struct.pack("f", shared / (len(a) + len(b) - shared)))
    return ratio


@lru_cache(maxsize=1 << 14)
def index_trigrams(name: str, threshold: float) -> tuple[str, ...]:
    """Trigrams to look a name up by: two names of `similarity` ≥ ``threshold``, in (0, 1], share at least one.

    The prefix filter of set-similarity joins: with trigrams in a fixed order, |A ∩ B| ≥ t·|A ∪ B| ≥ t·|A| implies that
    the first |A| − ⌈t·|A|⌉ + 1 of both intersect. Beginnings of words, which many names share, come last in the order.
    """
    ordered = sorted(trigrams(name), key=_rarity)
    return tuple(ordered[: len(ordered) - ceil(threshold * len(ordered) * _FLOAT32_SLACK) + 1]) if ordered else ()


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


def _ascii_words(name: str) -> list[str]:
    return _ASCII_WORD.findall(name.lower())


def _words(name: str) -> list[str]:
    return "".join(map(_letter, name)).split()


@lru_cache(maxsize=4096)
def _letter(character: str) -> str:
    """A letter or digit in lower case, a space for any other character; always one character: "İ" becomes "i"."""
    category = unicodedata.category(character)
    if category[0] == "L" or category in {"Nd", "Nl"} or ord(character) in _other_alphabetic():
        return character.lower()[0]
    return " "


def _compact(trigram: str) -> str:
    """A trigram reduced to three bytes as in pg_trgm, formatted as by ``show_trgm``."""
    if trigram.isascii():
        return trigram
    kept = _checksum(trigram.encode()).to_bytes(4, "little")[:3]
    text = kept.decode("latin-1")
    printable = all(each.isascii() and (each.isalnum() or each == " ") for each in text)
    return text if printable else f"0x{kept.hex()}"


def _crc_table() -> Iterator[int]:
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)  # noqa: PLW2901 - a register, shifted
        yield value


_TABLE: Final = tuple(_crc_table())


@lru_cache(maxsize=16384)
def _checksum(data: bytes) -> int:
    """Postgres' "legacy" CRC-32: the table of the reflected polynomial, applied in the other direction."""
    value = 0xFFFFFFFF
    for byte in data:
        value = _TABLE[value >> 24 ^ byte] ^ value << 8 & 0xFFFFFFFF
    return value ^ 0xFFFFFFFF


@lru_cache(maxsize=1 << 16)
def _rarity(trigram: str) -> tuple[int, int, str]:
    return len(trigram) - len(trigram.lstrip(" ")), crc32(trigram.encode()), trigram


# -- Unicode data -------------------------------------------------------------------------------------------------

_OTHER_ALPHABETIC: Final = """
    345 5b0-5bd 5bf 5c1-5c2 5c4-5c5 5c7 610-61a 64b-657 659-65f 670 6d6-6dc 6e1-6e8 6ed 711-73f 7a6-7b0 816-817
    81b-82c 8d4-8df 8e3-8e9 8f0-93b 93e-94c 94e-94f 955-963 981-983 9be-9cc 9d7-9e3 a01-a03 a3e-a4c a51-a75 a81-a83
    abe-acc ae2-ae3 afa-afc b01-b03 b3e-b4c b56-b63 b82-bcc bd7 c00-c03 c3e-c4c c55-c63 c81-c83 cbe-ccc cd5-d03
    d3e-d4c d57 d62-d63 d81-d83 dcf-df3 e31-e3a e4d eb1-eb9 ebb-ebc ecd f71-f81 f8d-fbc 102b-1036 1038 103b-103e
    1056-109d 1712-1713 1732-1733 1752-1773 17b6-17c8 1885-1938 1a17-1a1b 1a55-1a5e 1a61-1a74 1abf-1ac0 1acc-1b04
    1b35-1b43 1b80-1ba9 1bac-1bad 1be7-1bf1 1c24-1c36 1de7-1df4 24b6-24e9 2de0-2dff a674-a67b a69e-a69f a802
    a80b-a827 a880-a8c3 a8c5 a8ff-a92a a947-a952 a980-a983 a9b4-a9bf a9e5-aa4d aa7b-aabe aaeb-aaef aaf5 abe3-abea
    fb1e 10376-1037a 10a01-10a0f 10d24-10d27 10eab-10eac 11000-11045 11073-11074 11082-110b8 110c2 11100-11132
    11145-11146 11180-111bf 111ce-111cf 1122c-11234 11237 1123e 112df-112e8 11300-11303 1133e-1134c 11357-11363
    11435-11441 11443-11445 114b0-114c1 115af-115be 115dc-1163e 11640 116ab-116b5 1171d-1172a 1182c-11838
    11930-1193c 11940-11942 119d1-119df 119e4-11a0a 11a35-11a3e 11a51-11a97 11c2f-11c3e 11c92-11d41 11d43
    11d47-11d96 11ef3-11ef6 16f4f-16f92 16ff0-16ff1 1bc9e 1e000-1e02a 1e947 1f130-1f149 1f150-1f169 1f170-1f189
"""
"""Code points with the property Other_Alphabetic, which Python does not expose, in DerivedCoreProperties of Unicode 14.

Ranges also include unassigned code points and letters, which keeps the table short.
"""


@cache
def _other_alphabetic() -> frozenset[int]:
    found: set[int] = set()
    for item in _OTHER_ALPHABETIC.split():
        first, _, last = item.partition("-")
        found.update(range(int(first, 16), int(last or first, 16) + 1))
    return frozenset(found)
