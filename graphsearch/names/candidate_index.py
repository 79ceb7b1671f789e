"""An in-memory index of the entities that the names of a batch may denote: fetched ones and new ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import islice
from typing import Final
from uuid import UUID

import attrs

from graphsearch.model import Entity
from graphsearch.model.identity import normalise_name
from graphsearch.names.forms import SHORTEST_FOR_A_VOWEL, Form, respelt, squashed
from graphsearch.names.typed_names import TypedName, known_type, read, shared_type
from graphsearch.text.trigrams import index_trigrams, name_words

PREFIX: Final = 5
"""Length of the prefix by which words with a typing error after it are looked up."""
LONGEST: Final = 24
"""Maximum letters of a word that is also looked up by other spellings and by its parts."""
MAX_FOUND: Final = 50
"""Maximum candidates for one word: a word that more entities share is no evidence."""
MAX_COMPARED: Final = 50
"""Maximum names of one entity that are compared with another name, so that resolving is linear in the names."""

_OrderedIds = dict[UUID, None]  # an ordered set


class CandidateIndex:
    """Entities indexed by the spelling, keys, words and trigrams of their names; grows while a batch is resolved.

    ``similarity``, in (0, 1], is the least trigram similarity of the names that `similar` finds.
    """

    def __init__(self, *, similarity: float) -> None:
        self._threshold = similarity
        self.entities: dict[UUID, Entity] = {}
        self._kinds: dict[UUID, str] = {}
        self._names: dict[UUID, dict[str, None]] = {}
        self._spelt: defaultdict[str, _OrderedIds] = defaultdict(dict)
        self._keyed: defaultdict[str, dict[UUID, str]] = defaultdict(dict)  # each with its first name of that key
        self._worded: defaultdict[str, _OrderedIds] = defaultdict(dict)
        self._started: defaultdict[str, _OrderedIds] = defaultdict(dict)
        self._similar: defaultdict[str, _OrderedIds] = defaultdict(dict)

    def add(self, entity: Entity) -> None:
        """Add or replace an entity with all its names."""
        self.entities[entity.id] = entity
        self._kinds[entity.id] = known_type(entity.type)
        for name in (entity.name, *entity.aliases):
            self.add_name(entity.id, name)

    def add_name(self, entity_id: UUID, name: str) -> None:
        """Add a name to an entity of the index."""
        entity = self.entities[entity_id]
        names = self._names.setdefault(entity_id, {})
        if name not in names:
            names[name] = None
            self._index(entity_id, name)
        for key in TypedName(name, entity.type).keys:
            self._keyed[key].setdefault(entity_id, name)

    def retype(self, entity_id: UUID, type: str) -> None:
        """Set the type of an entity of unknown type; its id stays the same."""
        self.entities[entity_id] = attrs.evolve(self.entities[entity_id], type=type)
        self._kinds[entity_id] = known_type(type)

    def _index(self, entity_id: UUID, name: str) -> None:
        self._spelt[normalise_name(name)][entity_id] = None
        for word in name_words(name):
            _note(self._worded, word, entity_id)
            _note(self._started, word[:PREFIX], entity_id)
        for trigram in index_trigrams(name, self._threshold):
            _note(self._similar, trigram, entity_id)

    def names(self, entity_id: UUID) -> Iterator[str]:
        """The names of an entity that are compared with others: its first `MAX_COMPARED`, the primary name first."""
        return islice(self._names[entity_id], MAX_COMPARED)

    def namesakes(self, entity_id: UUID, named: TypedName) -> Iterator[str]:
        """The names of an entity that may be spellings of a name."""
        yield from self.names(entity_id)
        if len(self._names[entity_id]) > MAX_COMPARED:
            keyed = (self._keyed.get(key, {}) for key in named.keys)
            yield from (ids[entity_id] for ids in keyed if entity_id in ids)

    def is_spelt(self, entity_id: UUID, name: str) -> bool:
        """Whether an entity has exactly this name, ignoring case."""
        return entity_id in self._spelt.get(normalise_name(name), ())

    def named(self, entity_id: UUID, name: str) -> TypedName:
        """A name of an entity, with its type."""
        return TypedName(name, self.entities[entity_id].type)

    # -- lookups; their results are supersets, to be compared name by name -----------------------------------------

    def by_spelling(self, name: str) -> Iterator[UUID]:
        """Entities of any type with exactly this name, ignoring case."""
        return iter(self._spelt.get(normalise_name(name), ()))

    def by_key(self, named: TypedName) -> Iterator[UUID]:
        """Entities that share a key with a name."""
        return _each(self._keyed, named.keys)

    def by_word(self, named: TypedName) -> Iterator[UUID]:
        """Entities that share a word with a name, allowing for a typing error."""
        words, prefixes = lookups(named)
        yield from dict.fromkeys((*_each(self._worded, words), *_each(self._started, prefixes)))

    def similar(self, named: TypedName) -> Iterator[UUID]:
        """Entities that may have a similar enough name by trigrams."""
        return _each(self._similar, index_trigrams(named.form.shown, self._threshold))

    def comparable(self, named: TypedName, found: Iterable[UUID]) -> Iterator[tuple[UUID, str]]:
        """The entities whose type does not conflict, each with the type by which names are compared."""
        for entity_id in found:
            kind = shared_type(named.type, self._kinds[entity_id])
            if kind is not None:
                yield entity_id, kind

    def conflicts_with(self, named: TypedName, entity_id: UUID, kind: str) -> bool:
        """Whether a name of an entity conflicts with this one, so that the entity cannot have both.

        A name that is a variant or a misspelling of another name of the entity is ignored. So is one that conflicts
        with another name of the entity: someone with more knowledge has joined these, so agreeing with one is enough.
        """
        form = read(named.name, kind)
        names = [read(known, kind) for known in self.names(entity_id)]
        against = [name for name in names if form.agrees(name) is False]
        others = [name for name in names if name not in against]
        return any(not any(_excuses(name, bad) for name in others) for bad in against)

    def fits_all(self, name: str, entity_id: UUID, kind: str, declared: AbstractSet[frozenset[str]]) -> bool:
        """Whether a name fits every full name of an entity, as a short name may abbreviate several full ones.

        ``declared`` are pairs of names that are known to fit. "Australian Football League" does not fit an entity that
        is also called "American Football League", although both are "AFL".
        """
        form = read(name, kind)
        names = [read(known, kind) for known in self.names(entity_id)]
        fitting = [read(known, kind) for known in self.names(entity_id) if frozenset({name, known}) in declared]
        unfit = [other for other in names if other not in fitting and not form.goes_with(other)]
        others = [other for other in names if other not in unfit]
        return all(any(_excuses(other, bad) for other in others) for bad in unfit)

    def has_same_numbers(self, named: TypedName, entity_id: UUID, kind: str) -> bool:
        """Whether any name of an entity has the same numbers: different numbers mean different entities."""
        numbers = read(named.name, kind).numbers
        return any(read(known, kind).numbers == numbers for known in self.names(entity_id))


def _excuses(name: Form, other: Form) -> bool:
    """Whether a name of an entity overrides the conflict of another one, so that agreeing with it suffices."""
    as_specific = name.same(other) and name.rank >= other.rank
    return as_specific or name.misspells(other) or name.agrees(other) is False


@lru_cache(maxsize=1 << 14)
def lookups(named: TypedName) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The words and word prefixes by which a store looks a name up; `CandidateIndex.by_word` uses the same."""
    words = dict.fromkeys(word for form in named.forms for word in form.lookups())
    prefixes: tuple[str, ...] = ()
    whole = squashed(named.form.words)
    if len(named.form.words) == 1 and len(whole) <= LONGEST and named.type != "file":
        words.update(dict.fromkeys((*respelt(whole), *_ends(whole))))
        prefixes = (whole[:PREFIX],) if len(whole) >= SHORTEST_FOR_A_VOWEL else ()
    return tuple(words), prefixes


def _ends(word: str) -> Iterator[str]:
    """Prefixes and suffixes of at least three letters, for compounds such as "psharma" and "vscode"."""
    for at in range(3, len(word)):
        yield word[:at]
        yield word[len(word) - at :]


def _note(index: defaultdict[str, _OrderedIds], key: str, entity_id: UUID) -> None:
    found = index[key]
    if len(found) < MAX_FOUND:
        found[entity_id] = None


def _each(index: Mapping[str, Mapping[UUID, object]], keys: Iterable[str]) -> Iterator[UUID]:
    return iter(dict.fromkeys(each for key in keys for each in index.get(key, ())))
