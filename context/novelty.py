"""Whether a line states anything that another does not. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

NEW: Final = 0.1
"""The greatest share of new words at which a line counts as a rewording of another."""
_WORD: Final = re.compile(r"\w+(?:['’]\w+)?")
_DAY: Final = re.compile(r"^- \d{4}-\d\d-\d\d(?: \(until \d{4}-\d\d-\d\d\))? ")
_DENYING: Final = frozenset(("no", "not", "never", "nor", "none", "without"))


class ShownLines:
    """The lines shown so far, as sets of words."""

    def __init__(self, lines: Sequence[str] = ()) -> None:
        self._lines = [_lowered(line) for line in lines]

    def add(self, line: str) -> None:
        """Add a shown line."""
        self._lines.append(_lowered(line))

    def holds(self, line: str) -> bool:
        """Whether a shown line has nearly all words of this line, and all of its numbers, names and negations.

        The day is ignored: what is repeated later is a repetition.
        """
        words = _words(line)
        return any(_repeats(words, other) for other in self._lines)


def _words(line: str) -> list[str]:
    return _WORD.findall(_DAY.sub("", line))


def _lowered(line: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _words(line))


def _repeats(words: Sequence[str], other: frozenset[str]) -> bool:
    new = {word for word in words if word.lower() not in other}
    return len(new) <= NEW * len(set(words)) and not any(map(_changes_meaning, new))


def _changes_meaning(word: str) -> bool:
    """Whether one word can change the meaning of a statement: a number, a name, a negation."""
    lower = word.lower()
    return word[0].isupper() or any(map(str.isdigit, word)) or lower in _DENYING or lower.endswith(("n't", "n’t"))
