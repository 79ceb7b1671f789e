"""One slip of the fingers: whether two words are one word of which one was mistyped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

SHORTEST: Final = 5
"""Letters of the longer word: in shorter ones, one letter more or less is another word ("Jon", "John")."""
SHORTEST_FOR_A_LETTER: Final = 6
SHORTEST_FOR_A_VOWEL: Final = 8

_VOWELS: Final = frozenset("aeiouy")


def light_slip(a: str, b: str, *, in_company: bool = False) -> bool:
    """Two neighbours swapped ("Phoenix", "Pheonix"), or a letter doubled; safe even where namesakes are near.

    ``in_company``: other words beside it are equal, which is why four letters are enough to see two swapped.
    """
    short, long = sorted((a, b), key=len)
    if len(long) < SHORTEST - in_company or short == long:
        return False
    at = _first_difference(short, long)
    if len(short) == len(long):
        return short[at : at + 2] == long[at : at + 2][::-1] and short[at + 2 :] == long[at + 2 :]
    return len(long) >= SHORTEST and short[at:] == long[at + 1 :] and long[at] == long[at - 1] and at > 0


def slip(a: str, b: str, *, in_company: bool = False) -> bool:
    """A `light_slip`, "ph" for "f", a letter left out inside of a long word, or a vowel inside taken for another.

    The first letter and the last are typed with care, and often make another word: "Mario", "Maria".
    """
    if light_slip(a, b, in_company=in_company):
        return True
    short, long = sorted((a, b), key=len)
    if short == long or len(long) < SHORTEST_FOR_A_LETTER or len(long) - len(short) > 1:
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


def respelt(word: str) -> Iterator[str]:
    """Words to look for that this one may be a slip of: neighbours swapped, a letter less, a letter doubled, "f"."""
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
