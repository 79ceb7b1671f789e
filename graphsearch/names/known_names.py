"""Names known beforehand: those of a scope, the vocabulary of tools, and how they are found in a text in any case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Final, Generic, NamedTuple, TypeVar

from graphsearch.model.extracted import KnownName
from graphsearch.names.known_tools import known_tools
from graphsearch.text.tokens import tokens

TOOL: Final = "tool"
MOST_WORDS: Final = 12
"""Words of a name that is looked for."""
V = TypeVar("V")
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""A letter of a script that does not part words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


class WordIndex(Generic[V]):
    """Values by sequences of words in lower case; however many there are, a text is searched once."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, ...], V] = {}
        self._lengths: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self._values)

    def get(self, words: Sequence[str]) -> V | None:
        """The value of some words."""
        return self._values.get(tuple(words))

    def add(self, words: Sequence[str], value: V) -> None:
        """Add a value; the first of equal words counts."""
        whole = tuple(words)
        if not 0 < len(whole) <= MOST_WORDS or whole in self._values:
            return
        self._values[whole] = value
        lengths = self._lengths.get(whole[0], ())
        if len(whole) not in lengths:
            self._lengths[whole[0]] = tuple(sorted((*lengths, len(whole)), reverse=True))

    def find(self, lows: Sequence[str]) -> Iterator[tuple[int, int, V]]:
        """The longest match at each word of a text, as (first, end, value)."""
        lengths = self._lengths
        for place, low in enumerate(lows):
            for length in lengths.get(low, ()):
                if place + length > len(lows):
                    continue
                if (value := self._values.get(tuple(lows[place : place + length]))) is not None:
                    yield place, place + length, value
                    break


class Known(NamedTuple):
    """A spelling of a known name. ``plain``: it is an ordinary word as well. ``written``: as a part of a word."""

    name: str
    type: str
    plain: bool = False
    written: str = ""


class KnownNames:
    """The names of a scope or a user, and the vocabulary of tools, which gives way to them."""

    def __init__(self, names: Iterable[KnownName] = ()) -> None:
        self._index: WordIndex[Known] = WordIndex()
        self._letters: WordIndex[Known] = WordIndex()
        """Names of scripts that do not part words, by their letters."""
        for each in names:
            for written in (each.name, *each.aliases):
                known = Known(each.name, each.type)
                words = name_words(written)
                self._index.add(words[words[:1] == ["the"] :], known)
                if _UNSPACED.match(written):
                    self._letters.add(written.casefold(), known._replace(written=written))
        for words, tool in _tools():
            self._index.add(words, tool)

    def full_name(self, written: str) -> Known | None:
        """The known name that a spelling is one of."""
        return self._index.get(name_words(written))

    def find(self, lows: Sequence[str]) -> Iterator[tuple[int, int, Known]]:
        """The longest known name at each word of a text, as (first, end, name)."""
        yield from self._index.find(lows)
        if len(self._letters):
            for place, low in enumerate(lows):
                if _UNSPACED.match(low):
                    yield from ((place, place + 1, known) for _, _, known in self._letters.find(low))


def name_words(written: str) -> list[str]:
    """The words of a name in lower case, as a text is cut into them."""
    low = written.casefold()
    parts = low.split()
    return parts if "".join(parts).isalpha() and low.isascii() else [word.text.casefold() for word in tokens(written)]


@cache
def _tools() -> Sequence[tuple[list[str], Known]]:
    """The words of each spelling of a tool, and the tool."""
    return [
        (name_words(written), Known(name, TOOL, plain=section != "sure" and " " not in written))
        for section, tools in known_tools().items()
        for name, others in tools.items()
        for written in (name, *others)
    ]
