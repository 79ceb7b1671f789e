"""Typing errors: one letter that is missing, doubled, wrong or swapped, in words too long to be another word by it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

SHORTEST: Final = 5
"""Least letters of the longer word: in shorter ones, one letter makes another word ("Jon", "John")."""
SHORTEST_FOR_A_LETTER: Final = 6
SHORTEST_FOR_A_VOWEL: Final = 8
LONG_WORD: Final = 9
"""Least letters of a single word of any kind in which a typing error is unlikely to make another name."""

_VOWELS: Final = frozenset("aeiouy")


def light_slip(a: str, b: str, *, in_company: bool = False) -> bool:
    """Whether two neighbouring letters are swapped ("Phoenix", "Pheonix") or a letter is doubled.

    ``in_company``: the other words of the names are equal, so that four letters suffice to recognise a swap.
    """
    short, long = sorted((a, b), key=len)
    if len(long) < SHORTEST - in_company or short == long:
        return False
    at = _first_difference(short, long)
    if len(short) == len(long):
        return short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return len(long) >= SHORTEST and short[at:] == long[at + 1 :] and at > 0 and long[at] == long[at - 1]


def slip(a: str, b: str, *, in_company: bool = False) -> bool:
    """A `light_slip`, "ph" for "f", or, within a long word, a missing letter or a wrong vowel.

    The first and the last letter must be equal: they are rarely mistyped, and often make another word ("Mario",
    "Maria").
    """
    if a == b or abs(len(a) - len(b)) > 1:
        return False
    if light_slip(a, b, in_company=in_company):
        return True
    short, long = sorted((a, b), key=len)
    if len(long) < SHORTEST_FOR_A_LETTER:
        return False
    if short.replace("ph", "f") == long.replace("ph", "f"):
        return True
    at = _first_difference(short, long)
    if not 0 < at < len(long) - 1:
        return False
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    misheard = short[at] in _VOWELS and long[at] in _VOWELS
    return len(long) >= SHORTEST_FOR_A_VOWEL - in_company and misheard and short[at + 1 :] == long[at + 1 :]


def one_slip(a: Sequence[str], b: Sequence[str]) -> int | None:
    """The index of the only word that differs, if it is a misspelling of the other one; else None."""
    different = [at for at, (x, y) in enumerate(zip(a, b, strict=False)) if x != y]
    if len(a) != len(b) or len(different) != 1:
        return None
    (at,) = different
    return at if slip(a[at], b[at], in_company=len(a) > 1) else None


def respelt(word: str) -> Iterator[str]:
    """Spellings that a word may be a slip of: letters swapped, a letter less, a letter doubled, "f" for "ph"."""
    if len(word) >= SHORTEST:
        yield from {word.replace("ph", "f"), word.replace("f", "ph")} - {word}
    if len(word) >= SHORTEST - 1:
        for at in range(1, len(word)):
            yield word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :]
        for at in range(1, len(word) + 1):
            yield word[: at - 1] + word[at:]
            yield word[:at] + word[at - 1 :]


def _first_difference(short: str, long: str) -> int:
    return next((at for at, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
