"""An in-memory index of the entities that the names of a batch may denote: fetched ones and new ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Final
from uuid import UUID

import attrs

from graphsearch.model import Entity
from graphsearch.model.identity import normalise_name
from graphsearch.names.comparing import goes_with, is_misspelt, is_same, may_be_one
from graphsearch.names.forms import Form
from graphsearch.names.typed_names import PREFIX, TypedName, known_type, lookups, read, shared_type
from graphsearch.text.trigrams import index_trigrams, name_words

MAX_FOUND: Final = 50
"""Maximum candidates for one word: a word that more entities share is no evidence."""
MAX_COMPARED: Final = 50
"""Maximum names of one entity that are compared with another name, so that resolving is linear in the names."""


@attrs.define(eq=False)
class Candidate:
    """An entity that a name may denote, with its names; it is compared by identity, which is faster than by id."""

    entity: Entity
    _names: dict[str, None] = attrs.field(factory=dict, init=False)
    _forms: dict[str, tuple[Form, ...]] = attrs.field(factory=dict, init=False)

    @property
    def id(self) -> UUID:
        """The entity's id."""
        return self.entity.id

    @property
    def names(self) -> tuple[str, ...]:
        """The names that are compared with others: its first `MAX_COMPARED`, the primary name first."""
        return tuple(islice(self._names, MAX_COMPARED))

    def forms(self, kind: str) -> tuple[Form, ...]:
        """The `names`, parsed by a type."""
        if kind not in self._forms:
            self._forms[kind] = tuple(read(name, kind) for name in self.names)
        return self._forms[kind]

    def add_name(self, name: str) -> bool:
        """Add a name; return whether it is new."""
        if name in self._names:
            return False
        self._names[name] = None
        self._forms.clear()
        return True

    def conflicts_with(self, form: Form, kind: str) -> bool:
        """Whether one of its names conflicts with a form of this type, so that the entity cannot have both names.

        A name that is a variant or a misspelling of another name of the entity is ignored. So is one that conflicts
        with another name of the entity: someone with more knowledge has joined these, so agreeing with one is enough.
        """
        return self._speaks_against([may_be_one(form, name) is not False for name in self.forms(kind)], kind)

    def fits_all(self, named: str, kind: str, declared: AbstractSet[frozenset[str]]) -> bool:
        """Whether a name fits all of its full names, as a short name may abbreviate several full ones.

        ``declared`` are pairs of names that are known to fit. "Australian Football League" does not fit an entity that
        is also called "American Football League", although both are "AFL".
        """
        form, names = read(named, kind), zip(self.names, self.forms(kind), strict=True)
        fits = [frozenset({named, name}) in declared or goes_with(form, other) for name, other in names]
        return not self._speaks_against(fits, kind)

    def _speaks_against(self, fits: Iterable[bool], kind: str) -> bool:
        """Whether one of its names is unfit, and no fit one excuses it."""
        names: tuple[list[Form], list[Form]] = ([], [])
        for name, fit in zip(self.forms(kind), fits, strict=True):
            names[fit].append(name)
        unfit, others = names
        return not all(any(_excuses(name, bad) for name in others) for bad in unfit)

    def has_same_numbers(self, form: Form, kind: str) -> bool:
        """Whether any of its names has the same numbers: different numbers mean different entities."""
        return any(name.numbers == form.numbers for name in self.forms(kind))


_Ordered = dict[Candidate, None]  # an ordered set


class CandidateIndex:
    """Candidates indexed by the spelling, keys, words and trigrams of their names; grows while a batch is resolved.

    ``similarity``, in (0, 1], is the least trigram similarity of the names that `similar` finds; ``key`` is that of the
    scope's ids.
    """

    def __init__(self, *, similarity: float, key: UUID) -> None:
        self._threshold = similarity
        self.key = key
        self._candidates: dict[UUID, Candidate] = {}
        self._spelt: defaultdict[str, _Ordered] = defaultdict(dict)
        self._keyed: defaultdict[str, dict[Candidate, str]] = defaultdict(dict)  # each with its first name of that key
        self._worded: defaultdict[str, _Ordered] = defaultdict(dict)
        self._started: defaultdict[str, _Ordered] = defaultdict(dict)
        self._similar: defaultdict[str, _Ordered] = defaultdict(dict)
        self._merged: dict[UUID, Candidate] = {}

    def __contains__(self, entity_id: UUID) -> bool:
        return entity_id in self._candidates

    def __iter__(self) -> Iterator[UUID]:
        return iter(self._candidates)

    def __getitem__(self, entity_id: UUID) -> Candidate:
        return self._candidates[entity_id]

    def add(self, entity: Entity) -> None:
        """Add or replace an entity with all its names."""
        candidate = self._candidates.setdefault(entity.id, Candidate(entity))
        candidate.entity = entity
        for name in (entity.name, *entity.aliases):
            self.add_name(candidate, name)

    def add_name(self, candidate: Candidate, name: str) -> None:
        """Add a name to a candidate of the index."""
        if candidate.add_name(name):
            self._index(candidate, name)
        for key in TypedName(name, candidate.entity.type).keys:
            self._keyed[key].setdefault(candidate, name)

    def _index(self, candidate: Candidate, name: str) -> None:
        self._spelt[normalise_name(name)][candidate] = None
        for word in name_words(name):
            _note(self._worded, word, candidate)
            _note(self._started, word[:PREFIX], candidate)
        for trigram in index_trigrams(name, self._threshold):
            _note(self._similar, trigram, candidate)

    def note_merged(self, source: UUID, target: Candidate) -> None:
        """Record that an entity was merged into a candidate."""
        self._merged[source] = target

    def merged_into(self, source: UUID) -> Candidate | None:
        """The candidate that an entity was merged into, if it was."""
        return self._merged.get(source)

    def namesakes(self, candidate: Candidate, named: TypedName) -> Iterator[str]:
        """The names of a candidate that may be spellings of a name."""
        keyed = (self._keyed.get(key, {}) for key in named.keys)
        yield from dict.fromkeys((*candidate.names, *(found[candidate] for found in keyed if candidate in found)))

    def is_spelt(self, candidate: Candidate, name: str) -> bool:
        """Whether a candidate has exactly this name, ignoring case."""
        return candidate in self._spelt.get(normalise_name(name), ())

    # -- lookups; their results are supersets, to be compared name by name -----------------------------------------

    def by_spelling(self, name: str) -> Iterator[Candidate]:
        """Candidates of any type with exactly this name, ignoring case."""
        return iter(self._spelt.get(normalise_name(name), ()))

    def by_key(self, named: TypedName) -> Iterator[Candidate]:
        """Candidates that share a key with a name."""
        return _each(self._keyed, named.keys)

    def by_word(self, named: TypedName) -> Iterator[Candidate]:
        """Candidates that share a word with a name, allowing for a typing error."""
        words, prefixes = lookups(named)
        return iter(dict.fromkeys((*_each(self._worded, words), *_each(self._started, prefixes))))

    def similar(self, named: TypedName) -> Iterator[Candidate]:
        """Candidates that may have a similar enough name by trigrams."""
        return _each(self._similar, index_trigrams(named.form.shown, self._threshold))


def comparable(named: TypedName, found: Iterable[Candidate]) -> list[tuple[Candidate, str]]:
    """The candidates whose type does not conflict, each with the type by which names are compared."""
    typed = [(candidate, candidate.entity.type) for candidate in found]
    kinds = {type_: shared_type(named.type, known_type(type_)) for type_ in {type_ for _, type_ in typed}}
    return [(candidate, kind) for candidate, type_ in typed if (kind := kinds[type_]) is not None]


def _excuses(name: Form, other: Form) -> bool:
    """Whether a name of an entity overrides the conflict of another one, so that agreeing with it suffices."""
    as_specific = is_same(name, other) and name.rank >= other.rank
    return as_specific or is_misspelt(name, other) or may_be_one(name, other) is False


def _note(index: defaultdict[str, _Ordered], key: str, candidate: Candidate) -> None:
    found = index[key]
    if len(found) < MAX_FOUND:
        found[candidate] = None


def _each(index: Mapping[str, Mapping[Candidate, object]], keys: Iterable[str]) -> Iterator[Candidate]:
    found: _Ordered = {}
    for key in keys:
        if key in index:
            found.update(dict.fromkeys(index[key]))
    return iter(found)
