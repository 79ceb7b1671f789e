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

    @property
    def compares_all(self) -> bool:
        """Whether all of its names are compared."""
        return len(self._names) <= MAX_COMPARED

    def forms(self, kind: str) -> tuple[Form, ...]:
        """The `names`, parsed by a type."""
        try:
            return self._forms[kind]
        except KeyError:
            found = self._forms[kind] = tuple(read(name, kind) for name in self.names)
            return found

    def add_name(self, name: str) -> bool:
        """Add a name; return whether it is new."""
        new = name not in self._names
        if new:
            self._names[name] = None
            self._forms.clear()
        return new

    def conflicts_with(self, form: Form, kind: str) -> bool:
        """Whether one of its names conflicts with a form of this type, so that the entity cannot have both names.

        A name that is a variant or a misspelling of another name of the entity is ignored. So is one that conflicts
        with another name of the entity: someone with more knowledge has joined these, so agreeing with one is enough.
        """
        names = self.forms(kind)
        against = [name for name in names if form.agrees(name) is False]
        others = [name for name in names if name not in against] if against else []
        return any(not any(_excuses(name, bad) for name in others) for bad in against)

    def fits_all(self, named: str, kind: str, declared: AbstractSet[frozenset[str]]) -> bool:
        """Whether a name fits all of its full names, as a short name may abbreviate several full ones.

        ``declared`` are pairs of names that are known to fit. "Australian Football League" does not fit an entity that
        is also called "American Football League", although both are "AFL".
        """
        form, names = read(named, kind), self.forms(kind)
        fitting = [read(known, kind) for known in self.names if frozenset({named, known}) in declared]
        unfit = [other for other in names if other not in fitting and not form.goes_with(other)]
        others = [other for other in names if other not in unfit]
        return all(any(_excuses(other, bad) for other in others) for bad in unfit)

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
        yield from candidate.names
        if not candidate.compares_all:
            keyed = (self._keyed.get(key, {}) for key in named.keys)
            yield from (found[candidate] for found in keyed if candidate in found)

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
