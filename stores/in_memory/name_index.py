"""An index of entities by name and alias, updated word by word and trigram by trigram."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID
from zlib import crc32

import attrs

from graphsearch.claims.naming import Cell, cells_of, folded_name, prefix_lengths, sizes, words_of
from graphsearch.stores.in_memory.parts import Links, Part
from graphsearch.text.trigrams import index_trigrams, overlap, trigrams

_MASK_BITS: Final = 255

_EMPTY: Final[Mapping[Any, Any]] = MappingProxyType({})


@attrs.frozen(eq=False, kw_only=True)
class NameIndex:
    """The names of entities that are not merged. Each mapping is replaced, never mutated."""

    entities: Mapping[str, frozenset[UUID]] = _EMPTY
    """Entities by folded name or alias."""
    words: Mapping[str, frozenset[UUID]] = _EMPTY
    """Entities by word of a name or alias."""
    alphabet: Sequence[str] = ()
    """The words, sorted."""
    similar: Mapping[Cell, frozenset[str]] = _EMPTY
    """The folded names with a trigram in their prefix, by their size and its position."""
    masks: Mapping[str, int] = _EMPTY
    """A bit signature of the trigrams of each folded name."""

    def starting_with(self, beginning: str) -> Iterator[str]:
        """The words with this prefix, sorted."""
        start = bisect_left(self.alphabet, beginning)
        return takewhile(
            lambda word: word.startswith(beginning),
            (self.alphabet[at] for at in range(start, len(self.alphabet))),
        )

    def like(self, folded: str, threshold: float) -> Iterator[tuple[str, float]]:
        """The names similar to one, each with its similarity."""
        requested, prefix, mask = trigrams(folded), index_trigrams(folded, threshold), mask_of(folded)
        for size in sizes(len(requested), threshold):
            own, theirs = prefix_lengths(len(requested), size, threshold)
            cells = (Cell(trigram, size, at) for trigram in prefix[:own] for at in range(theirs))
            most = max(0, own - 1)  # trigrams that the names need not share
            for name in set[str]().union(*(self.similar[cell] for cell in cells if cell in self.similar)):
                different = (
                    mask & ~self.masks[name]
                ).bit_count()  # a lower bound of the trigrams not shared: bits may coincide
                if different <= most and (score := overlap(requested, trigrams(name))) >= threshold:
                    yield name, score


def mask_of(folded: str) -> int:
    """A number with one bit, or a few, for all trigrams of a name."""
    mask = 0
    for trigram in trigrams(folded):
        mask |= 1 << crc32(trigram.encode()) % _MASK_BITS
    return mask


class NameIndexDraft:
    """A draft of a `NameIndex`."""

    def __init__(self, before: NameIndex) -> None:
        self._before = before
        self._entities = Links(before.entities)
        self._words = Links(before.words)
        self._similar = Links(before.similar)
        self._masks = Part(before.masks)

    def rename(self, key: UUID, before: Sequence[str], after: Sequence[str]) -> None:
        """Replace the names of an entity."""
        old, new = set(map(folded_name, before)), set(map(folded_name, after))
        for name in old - new:
            self._entities.discard(name, key)
            if not self._entities.get(name):
                self._masks.pop(name)
                for cell in cells_of(name):
                    self._similar.discard(cell, name)
        for name in new - old:
            if not self._entities.get(name):
                self._masks.set(name, mask_of(name))
                for cell in cells_of(name):
                    self._similar.add(cell, name)
            self._entities.add(name, key)
        words_before, words_after = words_of(before), words_of(after)
        for word in words_before - words_after:
            self._words.discard(word, key)
        for word in words_after - words_before:
            self._words.add(word, key)

    @property
    def result(self) -> NameIndex:
        """The current index, the same object if no name changed."""
        entities, words = self._entities.result, self._words.result
        if entities is self._before.entities and words is self._before.words:
            return self._before
        return NameIndex(
            entities=entities,
            words=words,
            alphabet=self._alphabet(words),
            similar=self._similar.result,
            masks=self._masks.result,
        )

    def _alphabet(self, words: Mapping[str, frozenset[UUID]]) -> Sequence[str]:
        changed = self._words.changed
        gone = {word for word in changed if word in self._before.words and word not in words}
        new = [word for word in changed if word in words and word not in self._before.words]
        kept = [word for word in self._before.alphabet if word not in gone] if gone else self._before.alphabet
        return sorted([*kept, *new]) if new else kept
