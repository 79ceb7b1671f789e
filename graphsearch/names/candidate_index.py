"""An in-memory index of the entities that the names of a batch may denote: fetched ones and new ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final
from uuid import UUID

import attrs

from graphsearch.model import Entity
from graphsearch.model.identity import normalise_name
from graphsearch.names.comparing import is_misspelt, is_same, may_be_one
from graphsearch.names.forms import Form
from graphsearch.names.slips import SHORTEST_FOR_A_VOWEL
from graphsearch.names.typed_names import PREFIX, TypedName, known_type, lookups, read, shared_type
from graphsearch.text.trigrams import name_words

MAX_FOUND: Final = 50
"""Maximum candidates for one word: a word that more entities share is no evidence."""
MAX_COMPARED: Final = 50
"""Maximum names of one entity that are compared with another name, so that resolving is linear in the names."""


@attrs.define(eq=False)
class Candidate:
    """An entity that a name may denote, with its names; it is compared by identity, which is faster than by id."""

    entity: Entity
    names: dict[str, None] = attrs.field(factory=dict, init=False)
    """An ordered set, the primary name first."""
    _forms: dict[str, tuple[Form, ...]] = attrs.field(factory=dict, init=False)

    @property
    def id(self) -> UUID:
        """The entity's id."""
        return self.entity.id

    def forms(self, kind: str) -> tuple[Form, ...]:
        """Its first `MAX_COMPARED` names, parsed by a type."""
        if kind not in self._forms:
            self._forms[kind] = tuple(read(name, kind) for name in islice(self.names, MAX_COMPARED))
        return self._forms[kind]

    def add_name(self, name: str) -> bool:
        """Add a name; return whether it is new."""
        if name in self.names:
            return False
        self.names[name] = None
        self._forms.clear()
        return True

    def admits(self, form: Form, kind: str, fits: Callable[[Form, Form], bool] = may_be_one) -> bool:
        """Whether an entity of this type may have a name as well: it ``fits`` all of its names.

        An unfit one is excused by a variant or a misspelling among the fit ones, and by one that conflicts with it:
        someone with more knowledge has joined these, so agreeing with one is enough.
        """
        names = self.forms(kind)
        unfit = [name for name in names if not fits(form, name)]
        return all(any(_excuses(name, bad) for name in names if name not in unfit) for bad in unfit)

    def has_same_numbers(self, form: Form, kind: str) -> bool:
        """Whether any of its names has the same numbers: different numbers mean different entities."""
        return any(name.numbers == form.numbers for name in self.forms(kind))


Found = list[tuple[Candidate, str]]
"""Candidates, each with the type by which its names are compared with a name."""


class CandidateIndex:
    """Candidates indexed by the spelling and the words of their names; grows while a batch is resolved.

    ``key`` is that of the scope's ids.
    """

    def __init__(self, *, key: UUID) -> None:
        self.key = key
        self._candidates: dict[UUID, Candidate] = {}
        self._spelt: defaultdict[str, dict[Candidate, None]] = defaultdict(dict)
        self._worded: defaultdict[str, dict[Candidate, None]] = defaultdict(dict)
        self._started: defaultdict[str, dict[Candidate, None]] = defaultdict(dict)
        self._merged: dict[UUID, Candidate] = {}

    def __contains__(self, entity_id: UUID) -> bool:
        return entity_id in self._candidates

    def __iter__(self) -> Iterator[UUID]:
        return iter(self._candidates)

    def __getitem__(self, entity_id: UUID) -> Candidate:
        return self._candidates[entity_id]

    def add(self, entity: Entity) -> Candidate:
        """Add or replace an entity with all its names."""
        candidate = self._candidates.setdefault(entity.id, Candidate(entity))
        candidate.entity = entity
        for name in (entity.name, *entity.aliases):
            self.add_name(candidate, name)
        return candidate

    def add_name(self, candidate: Candidate, name: str) -> None:
        """Add a name to a candidate of the index."""
        if not candidate.add_name(name):
            return
        self._spelt[normalise_name(name)][candidate] = None
        for word in name_words(name):
            _note(self._worded[word], candidate)
            if len(word) >= SHORTEST_FOR_A_VOWEL - 1:
                _note(self._started[word[:PREFIX]], candidate)

    def merge(self, source: Entity, target: Candidate) -> None:
        """Record that an entity was merged into a candidate, which has its names from then on."""
        self._merged[source.id] = target
        for name in (source.name, *source.aliases):
            self.add_name(target, name)

    def merged_into(self, source: UUID) -> Candidate | None:
        """The candidate that an entity was merged into, if it was."""
        return self._merged.get(source)

    def is_spelt(self, candidate: Candidate, name: str) -> bool:
        """Whether a candidate has exactly this name, ignoring case."""
        return candidate in self._spelt.get(normalise_name(name), ())

    def spelt(self, name: str) -> Iterable[Candidate]:
        """Candidates of any type with exactly this name, ignoring case."""
        return self._spelt.get(normalise_name(name), ())

    def find(self, named: TypedName) -> Found:
        """Candidates of a type that does not conflict with a name or share a word with it, allowing for a slip."""
        found: dict[Candidate, None] = {}
        words, prefixes = lookups(named)
        for name in dict.fromkeys((named.name, named.form.shown)):
            found |= self._spelt.get(normalise_name(name), {})
        for index, keys in ((self._worded, words), (self._started, prefixes)):
            for key in keys:
                if key in index:
                    found |= index[key]
        return comparable(named, found)


def comparable(named: TypedName, found: Iterable[Candidate]) -> Found:
    """The candidates whose type does not conflict, each with the type by which names are compared."""
    kinds = ((each, shared_type(named.type, known_type(each.entity.type))) for each in found)
    return [(each, kind) for each, kind in kinds if kind is not None]


def _excuses(name: Form, other: Form) -> bool:
    """Whether a name of an entity overrides the conflict of another one, so that agreeing with it suffices."""
    as_specific = is_same(name, other) and name.rank >= other.rank
    return as_specific or is_misspelt(name, other) or not may_be_one(name, other)


def _note(found: dict[Candidate, None], candidate: Candidate) -> None:
    if len(found) < MAX_FOUND:
        found[candidate] = None
