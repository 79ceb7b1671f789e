"""Names known beforehand: those of a scope, the vocabulary of tools, and how they are found in a text in any case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Final, Generic, NamedTuple, TypeVar

import attrs

from graphsearch.model.extracted import KnownName
from graphsearch.names.vocabulary import known_tools
from graphsearch.text.tokens import tokens

TOOL: Final = "tool"
MOST_WORDS: Final = 12
"""Words of a name that is looked for."""
V = TypeVar("V")
_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
"""A letter of a script that does not part words: Thai, Lao, Burmese, Khmer, Japanese, Chinese."""


@attrs.define
class WordIndex(Generic[V]):
    """Values by sequences of words in lower case; however many there are, a text is searched once.

    ``lengths`` are those of the sequences that begin with a word, the longest first.
    """

    values: dict[tuple[str, ...], V] = attrs.field(factory=dict)
    lengths: dict[str, tuple[int, ...]] = attrs.field(factory=dict)

    def over(self, other: WordIndex[V]) -> WordIndex[V]:
        """Lay it over another one: of equal words its own value counts."""
        lengths = {
            word: tuple(sorted({*own, *other.lengths.get(word, ())}, reverse=True))
            for word, own in self.lengths.items()
        }
        return WordIndex({**other.values, **self.values}, {**other.lengths, **lengths})

    def get(self, words: Sequence[str]) -> V | None:
        """The value of some words."""
        return self.values.get(tuple(words))

    def add(self, words: Sequence[str], value: V) -> None:
        """Add a value; the first of equal words counts."""
        whole = tuple(words)
        if not 0 < len(whole) <= MOST_WORDS or whole in self.values:
            return
        self.values[whole] = value
        lengths = self.lengths.get(whole[0], ())
        if len(whole) not in lengths:
            self.lengths[whole[0]] = tuple(sorted((*lengths, len(whole)), reverse=True))

    def find(self, lows: Sequence[str]) -> Iterator[tuple[int, int, V]]:
        """The longest match at each word of a text, as (first, end, value)."""
        lengths = self.lengths
        for place in [place for place, low in enumerate(lows) if low in lengths]:
            for length in lengths[lows[place]]:
                value = self.values.get(tuple(lows[place : place + length]))
                if value is not None:
                    yield place, min(place + length, len(lows)), value
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
        own: WordIndex[Known] = WordIndex()
        self._letters: WordIndex[Known] = WordIndex()
        """Names of scripts that do not part words, by their letters."""
        for each in names:
            for written in (each.name, *each.aliases):
                known = Known(each.name, each.type)
                words = name_words(written)
                own.add(words[words[:1] == ["the"] :], known)
                if _UNSPACED.match(written):
                    self._letters.add(written.casefold(), known._replace(written=written))
        self._index = own.over(_tools())

    def full_name(self, written: str) -> Known | None:
        """The known name that a spelling is one of."""
        return self._index.get(name_words(written))

    def find(self, lows: Sequence[str]) -> Iterator[tuple[int, int, Known]]:
        """The longest known name at each word of a text, as (first, end, name)."""
        yield from self._index.find(lows)
        if self._letters.values:
            for place, low in enumerate(lows):
                if _UNSPACED.match(low):
                    yield from ((place, place + 1, known) for _, _, known in self._letters.find(low))


def name_words(written: str) -> list[str]:
    """The words of a name in lower case, as a text is cut into them."""
    low = written.casefold()
    parts = low.split()
    return parts if "".join(parts).isalpha() and low.isascii() else [word.text.casefold() for word in tokens(written)]


@cache
def _tools() -> WordIndex[Known]:
    """The vocabulary of tools, indexed once: who writes tells names with every call."""
    index: WordIndex[Known] = WordIndex()
    for section, tools in known_tools().items():
        for name, others in tools.items():
            for written in (name, *others):
                tool = Known(name, TOOL, plain=section != "sure" and " " not in written)
                index.add(name_words(written), tool)
    return index
