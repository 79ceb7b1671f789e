"""Whether a line says anything that another does not. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

NEW: Final = 0.1
"""The share of its words up to which a line that another does not hold is the same line, worded otherwise."""
_WORD: Final = re.compile(r"\w+(?:['’]\w+)?")
_DAY: Final = re.compile(r"^- \d{4}-\d\d-\d\d(?: \(until \d{4}-\d\d-\d\d\))? ")
_DENYING: Final = frozenset(("no", "not", "never", "nor", "none", "without"))


class Shown:
    """The lines shown so far, by their words."""

    def __init__(self, lines: Sequence[str] = ()) -> None:
        self._lines = [_lowered(line) for line in lines]

    def add(self, line: str) -> None:
        """One more line is shown."""
        self._lines.append(_lowered(line))

    def holds(self, line: str) -> bool:
        """Whether one of the lines shown holds nearly all words of another, and every number, name and denial in it.

        The day does not count: what was said again later is a repetition.
        """
        words = _words(line)
        return any(_repeats(words, other) for other in self._lines)


def _words(line: str) -> list[str]:
    return _WORD.findall(_DAY.sub("", line))


def _lowered(line: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _words(line))


def _repeats(words: Sequence[str], other: frozenset[str]) -> bool:
    new = {word for word in words if word.lower() not in other}
    return len(new) <= NEW * len(set(words)) and not any(map(_tells, new))


def _tells(word: str) -> bool:
    """Whether one word alone may make a statement another: a number, a name, a denial."""
    lower = word.lower()
    return word[0].isupper() or any(map(str.isdigit, word)) or lower in _DENYING or lower.endswith(("n't", "n’t"))
