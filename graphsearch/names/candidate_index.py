"""The names that a batch may mean, in memory: those that were fetched for it, and those that it makes itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final
from uuid import UUID

import attrs

from graphsearch.model import Entity
from graphsearch.model.identity import normalise_name
from graphsearch.names.forms import Form, squashed
from graphsearch.names.readings import Named, known_type, read, shared_type
from graphsearch.names.typos import SHORTEST_FOR_A_VOWEL, respelt
from graphsearch.text.trigrams import index_trigrams, name_words

PREFIX: Final = 5
"""Letters by which words of one slip further on are looked for."""
LONGEST: Final = 24
"""Letters of a word that is looked for in other spellings and in parts."""
MAX_FOUND: Final = 50
"""Entities that are looked at for one word: a word that more share tells nothing."""

Found = dict[UUID, None]  # a set that keeps its order


class KnownNames:
    """Entities by their names: by key, by word, by trigrams. Grows while a batch is resolved.

    ``similarity``: that of names which `similar` finds, in (0, 1].
    """

    def __init__(self, *, similarity: float) -> None:
        self._threshold = similarity
        self.entities: dict[UUID, Entity] = {}
        self._kinds: dict[UUID, str] = {}
        self._names: dict[UUID, dict[str, None]] = {}
        self._spelt: defaultdict[str, Found] = defaultdict(dict)
        self._keyed: defaultdict[str, Found] = defaultdict(dict)
        self._worded: defaultdict[str, Found] = defaultdict(dict)
        self._started: defaultdict[str, Found] = defaultdict(dict)
        self._similar: defaultdict[str, Found] = defaultdict(dict)

    def add(self, entity: Entity) -> None:
        """Add an entity with all its names, or replace it."""
        self.entities[entity.id] = entity
        self._kinds[entity.id] = known_type(entity.type)
        for name in (entity.name, *entity.aliases):
            self.name(entity.id, name)

    def name(self, entity_id: UUID, name: str) -> None:
        """Add a name to an entity that is known."""
        entity = self.entities[entity_id]
        names = self._names.setdefault(entity_id, {})
        if name not in names:
            names[name] = None
            self._index(entity_id, name)
        for key in Named(name, entity.type).keys:
            self._keyed[key][entity_id] = None

    def retype(self, entity_id: UUID, type: str) -> None:
        """Give an entity of unknown type the type of what it turned out to be; its id stays."""
        self.entities[entity_id] = attrs.evolve(self.entities[entity_id], type=type)
        self._kinds[entity_id] = known_type(type)

    def _index(self, entity_id: UUID, name: str) -> None:
        self._spelt[normalise_name(name)][entity_id] = None
        for word in name_words(name):
            _note(self._worded, word, entity_id)
            _note(self._started, word[:PREFIX], entity_id)
        for trigram in index_trigrams(name, self._threshold):
            _note(self._similar, trigram, entity_id)

    def names(self, entity_id: UUID) -> Iterable[str]:
        """The names of an entity, its own first."""
        return self._names[entity_id]

    def named(self, entity_id: UUID, name: str) -> Named:
        """A name of an entity, with its type."""
        return Named(name, self.entities[entity_id].type)

    # -- who may be meant; the answers hold more than that, and are compared then -------------------------------

    def spelt(self, name: str) -> Iterator[UUID]:
        """Entities of any type that have exactly this name, case aside."""
        return iter(self._spelt.get(normalise_name(name), ()))

    def keyed(self, named: Named) -> Iterator[UUID]:
        """Entities that share a key."""
        return _each(self._keyed, named.keys)

    def worded(self, named: Named) -> Iterator[UUID]:
        """Entities that share a word, or one that this may be a slip of."""
        words, prefixes = lookups(named)
        yield from dict.fromkeys((*_each(self._worded, words), *_each(self._started, prefixes)))

    def similar(self, named: Named) -> Iterator[UUID]:
        """Entities a name of which may be similar enough to this one."""
        return _each(self._similar, index_trigrams(named.form.shown, self._threshold))

    def comparable(self, named: Named, found: Iterable[UUID]) -> Iterator[tuple[UUID, str]]:
        """Those of a type that does not conflict, each with the type by which names are compared."""
        for entity_id in found:
            kind = shared_type(named.type, self._kinds[entity_id])
            if kind is not None:
                yield entity_id, kind

    def contradicted(self, named: Named, entity_id: UUID, kind: str) -> bool:
        """Whether any name of an entity rules out that this is one more: two that conflict are never of one.

        One that is but another written otherwise or mistyped rules nothing out. Nor does one that conflicts with
        another of the entity: somebody who knew better than their letters put these together, and it is enough to
        agree with one.
        """
        form = read(named.name, kind)
        names = [read(known, kind) for known in self.names(entity_id)]
        against = [name for name in names if form.agrees(name) is False]
        others = [name for name in names if name not in against]
        return any(not any(_excuses(name, bad) for name in others) for bad in against)

    def fits_all(self, name: str, entity_id: UUID, kind: str, declared: AbstractSet[frozenset[str]]) -> bool:
        """Whether a name fits every whole name of an entity: what fits a short one may be long for another thing.

        ``declared`` are pairs of names that fit in any case. "Australian Football League" is not the American one,
        though both are called "AFL".
        """
        form = read(name, kind)
        names = [read(known, kind) for known in self.names(entity_id)]
        told = [read(known, kind) for known in self.names(entity_id) if frozenset({name, known}) in declared]
        unfit = [other for other in names if other not in told and not form.goes_with(other)]
        others = [other for other in names if other not in unfit]
        return all(any(_excuses(other, bad) for other in others) for bad in unfit)

    def numbered_alike(self, named: Named, entity_id: UUID, kind: str) -> bool:
        """Whether any name of an entity has the numbers of this one: other numbers, other things."""
        numbers = read(named.name, kind).numbers
        return any(read(known, kind).numbers == numbers for known in self.names(entity_id))


def _excuses(name: Form, other: Form) -> bool:
    """Whether a name makes another one of the same entity no witness against a third that it agrees with."""
    as_telling = name.same(other) and name.rank >= other.rank
    return as_telling or name.misspells(other) or name.agrees(other) is False


@lru_cache(maxsize=1 << 14)
def lookups(named: Named) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Words and beginnings of words to look for in a store: what `KnownNames.worded` looks for in memory."""
    words = dict.fromkeys(word for form in named.forms for word in form.lookups())
    prefixes: tuple[str, ...] = ()
    whole = squashed(named.form.words)
    if len(named.form.words) == 1 and len(whole) <= LONGEST and named.type != "file":
        words.update(dict.fromkeys((*respelt(whole), *_ends(whole))))
        prefixes = (whole[:PREFIX],) if len(whole) >= SHORTEST_FOR_A_VOWEL else ()
    return tuple(words), prefixes


def _ends(word: str) -> Iterator[str]:
    """Beginnings and ends of three letters or more, for what is put together: "psharma", "vscode"."""
    for at in range(3, len(word)):
        yield word[:at]
        yield word[len(word) - at :]


def _note(index: defaultdict[str, Found], key: str, entity_id: UUID) -> None:
    found = index[key]
    if len(found) < MAX_FOUND:
        found[entity_id] = None


def _each(index: defaultdict[str, Found], keys: Iterable[str]) -> Iterator[UUID]:
    return iter(dict.fromkeys(each for key in keys for each in index.get(key, ())))
