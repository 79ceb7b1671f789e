"""Names of entities: their origins, folded into one name, and the index of the names that are shown."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.claims.naming import Cell, cells_of, folded_name, prefix_lengths, sizes, words_of
from graphsearch.model import Entity, Mention
from graphsearch.stores.in_memory.parts import Links, Part, ValueDraft
from graphsearch.text.trigrams import index_trigrams, overlap, trigrams

TypedSurface = tuple[str, str]
"""A surface form, and the type that its text states."""

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

    def starting_with(self, beginning: str) -> Iterator[str]:
        """The words with this prefix, sorted."""
        start = bisect_left(self.alphabet, beginning)
        return takewhile(
            lambda word: word.startswith(beginning),
            (self.alphabet[at] for at in range(start, len(self.alphabet))),
        )

    def like(self, folded: str, threshold: float) -> Iterator[tuple[str, float]]:
        """The names similar to one, each with its similarity."""
        requested, prefix = trigrams(folded), index_trigrams(folded, threshold)
        for size in sizes(len(requested), threshold):
            own, theirs = prefix_lengths(len(requested), size, threshold)
            cells = (Cell(trigram, size, at) for trigram in prefix[:own] for at in range(theirs))
            for name in set[str]().union(*(self.similar[cell] for cell in cells if cell in self.similar)):
                if (score := overlap(requested, trigrams(name))) >= threshold:
                    yield name, score


class NameIndexDraft:
    """A draft of a `NameIndex`."""

    def __init__(self, before: NameIndex) -> None:
        self._before = before
        self._entities = Links(before.entities)
        self._words = Links(before.words)
        self._similar = Links(before.similar)

    def rename(self, key: UUID, before: Sequence[str], after: Sequence[str]) -> None:
        """Replace the names of an entity."""
        old, new = set(map(folded_name, before)), set(map(folded_name, after))
        for name in old - new:
            self._entities.discard(name, key)
            if not self._entities.get(name):
                for cell in cells_of(name):
                    self._similar.discard(cell, name)
        for name in new - old:
            if not self._entities.get(name):
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
        )

    def _alphabet(self, words: Mapping[str, frozenset[UUID]]) -> Sequence[str]:
        changed = self._words.changed
        gone = {word for word in changed if word in self._before.words and word not in words}
        new = [word for word in changed if word in words and word not in self._before.words]
        kept = [word for word in self._before.alphabet if word not in gone] if gone else self._before.alphabet
        return sorted([*kept, *new]) if new else kept


@attrs.frozen(eq=False, kw_only=True)
class Naming:
    """The origins of names, and the index of the shown ones."""

    given: Mapping[UUID, tuple[str, ...]] = _EMPTY
    """Asserted aliases of entities, if any."""
    named: Mapping[UUID, str] = _EMPTY
    """Entities that exist through their mentions alone, and the types they were given."""
    forms: Mapping[UUID, Mapping[TypedSurface, int]] = _EMPTY
    """The number of uses of each surface form and type for an entity, merged or not."""
    index: NameIndex = attrs.field(factory=NameIndex)


class NamingDraft(ValueDraft[Naming]):
    """A draft of `Naming`."""

    def __init__(self, before: Naming) -> None:
        self.before = before
        self.given = Part(before.given)
        self.named = Part(before.named)
        self.forms = Part(before.forms)
        self.index = NameIndexDraft(before.index)
        self._open: dict[UUID, dict[TypedSurface, int]] = {}
        self.lost_surfaces: dict[UUID, set[str]] = {}
        """Surface forms that lost a mention; other mentions of them may remain."""
        self.touched = set[UUID]()
        """Entities whose name may have changed."""

    def give(self, entity: Entity, *, named: bool) -> bool:
        """Store the given aliases and type of an entity, and whether it is only named; return whether any changed."""
        other = self.given.put(entity.id, entity.aliases)
        turned = self.named.put(entity.id, entity.type if named else None)
        self.touched.add(entity.id)
        return other or turned

    def add_mention(self, mention: Mention) -> None:
        """Count the surface of a mention."""
        counts, form = self._counts(mention.entity_id), (mention.surface, mention.type)
        counts[form] = counts.get(form, 0) + 1
        self.touched.add(mention.entity_id)

    def remove_mention(self, mention: Mention) -> None:
        """Discount the surface of a mention."""
        counts, form = self._counts(mention.entity_id), (mention.surface, mention.type)
        counts[form] -= 1
        if not counts[form]:
            del counts[form]
        if not counts:
            del self._open[mention.entity_id]
            self.forms.pop(mention.entity_id)
        self.lost_surfaces.setdefault(mention.entity_id, set()).add(mention.surface)
        self.touched.add(mention.entity_id)

    def _counts(self, key: UUID) -> dict[TypedSurface, int]:
        """The numbers of uses of an entity's surface forms, copied before their first change."""
        if key not in self._open:
            self._open[key] = dict(self.forms.get(key) or {})
            self.forms.set(key, self._open[key])
        return self._open[key]

    def drop(self, key: UUID) -> None:
        """Drop the names of a removed entity."""
        self._open.pop(key, None)
        for part in (self.given, self.named, self.forms):
            part.pop(key)
        self.touched.add(key)
