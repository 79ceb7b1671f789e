"""A state in the making: parts are copied when first changed, so that a write that leaves a part leaves its indexes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, TypeVar

import attrs
import numpy as np

from graphsearch.model import ElementKind, Entity, Memory, Relation
from graphsearch.records import ElementRef, Vector
from graphsearch.scoring.lexical import frequencies, searchable_text
from graphsearch.signature import Signature
from graphsearch.stores.in_memory.state import Elements, State

K = TypeVar("K")
V = TypeVar("V")
M = TypeVar("M")
E = TypeVar("E", Entity, Relation, Memory)


class Part(Generic[K, V]):
    """A mapping that is copied before its first change, and stays the very same when nothing changes."""

    def __init__(self, before: Mapping[K, V]) -> None:
        self._before = before
        self._copy: dict[K, V] | None = None

    @property
    def result(self) -> Mapping[K, V]:
        """The mapping as it is now."""
        return self._before if self._copy is None else self._copy

    def get(self, key: K) -> V | None:
        """The value, or None."""
        return self.result.get(key)

    def __getitem__(self, key: K) -> V:
        return self.result[key]

    def __contains__(self, key: K) -> bool:
        return key in self.result

    def __iter__(self) -> Iterator[K]:
        return iter(self.result)

    def set(self, key: K, value: V) -> None:
        """Put a value in."""
        self._changed()[key] = value

    def pop(self, key: K) -> None:
        """Take a value out, if it is there."""
        if key in self.result:
            del self._changed()[key]

    def _changed(self) -> dict[K, V]:
        if self._copy is None:
            self._copy = dict(self._before)
        return self._copy


class Links(Generic[K, M]):
    """A `Part` of sets, changed member by member."""

    def __init__(self, before: Mapping[K, frozenset[M]]) -> None:
        self._before = before
        self._open: dict[K, set[M]] = {}

    def get(self, key: K) -> Iterable[M]:
        """The members, not to be changed meanwhile."""
        return self._open[key] if key in self._open else self._before.get(key, frozenset())

    def add(self, key: K, member: M) -> None:
        """Put a member in."""
        self._members(key).add(member)

    def discard(self, key: K, member: M) -> None:
        """Take a member out, if it is there."""
        self._members(key).discard(member)

    @property
    def result(self) -> Mapping[K, frozenset[M]]:
        """The mapping as it is now, without empty sets."""
        changed = {key: members for key, members in self._open.items() if members != self._before.get(key, frozenset())}
        if not changed:
            return self._before
        later = {**self._before, **{key: frozenset(members) for key, members in changed.items()}}
        return {key: members for key, members in later.items() if members}

    def _members(self, key: K) -> set[M]:
        if key not in self._open:
            self._open[key] = set(self._before.get(key, ()))
        return self._open[key]


class ElementsDraft(Generic[E]):
    """The elements of one kind in the making."""

    def __init__(self, before: Elements[E]) -> None:
        self._before: Elements[E] = before
        self.items: Part[Any, E] = Part(before.items)
        self.codes: Part[Any, int] = Part(before.codes)
        self.documents: Part[Any, Mapping[str, int]] = Part(before.documents)
        self.vectors: Part[Any, Any] = Part(before.vectors)
        self.weights: Part[Any, float] = Part(before.weights)

    def put(self, element: E) -> bool:
        """Write an element if that changes anything; whether it did."""
        if self.items.get(element.id) == element:
            return False
        self.items.set(element.id, element)
        document = frequencies(searchable_text(element))
        if document != (self.documents.get(element.id) or {}):
            if document:
                self.documents.set(element.id, document)
            else:
                self.documents.pop(element.id)
        return True

    def put_vector(self, key: object, vector: Vector) -> None:
        """Keep a vector, rounded as every store rounds it."""
        rounded = np.asarray(vector, np.float16)
        if (old := self.vectors.get(key)) is None or not np.array_equal(old, rounded):
            self.vectors.set(key, rounded)

    def drop(self, key: object) -> None:
        """Remove an element and all that hangs on it here."""
        for part in (self.items, self.codes, self.documents, self.vectors, self.weights):
            part.pop(key)

    @property
    def result(self) -> Elements[E]:
        """The elements as they are now."""
        changes = {field.name: getattr(self, field.name).result for field in attrs.fields(Elements)}
        same = all(value is getattr(self._before, name) for name, value in changes.items())
        return self._before if same else Elements(**changes)


class Draft:
    """A scope's state in the making."""

    def __init__(self, before: State) -> None:
        self.before = before
        self.entities = ElementsDraft(before.entities)
        self.relations = ElementsDraft(before.relations)
        self.memories = ElementsDraft(before.memories)
        self.mentions = Part(before.mentions)
        self.claims = Part(before.claims)
        self.mentioned = Links(before.mentioned)
        self.groups = Links(before.groups)
        self.proved = Links(before.proved)
        self.types = Part(before.types)
        self.signatures = Part(before.signatures)
        self.history = Part(before.history)
        self._codes = {signature: code for code, signature in before.signatures.items()}
        self._next_code = max(before.signatures, default=-1) + 1
        self._outdated = False

    def sign(self, elements: ElementsDraft[Any], key: object, signature: Signature) -> bool:
        """Give an element its signature; whether it had another, or none."""
        code = self._codes.get(signature)
        if code is None:
            code = self._codes[signature] = self._next_code  # small numbers, so that columns of them are looked up fast
            self._next_code += 1
            self.signatures.set(code, signature)
        old = elements.codes.get(key)
        if old == code:
            return False
        elements.codes.set(key, code)
        self._outdated = self._outdated or old is not None
        return True

    def drop(self, kind: ElementKind, key: object) -> None:
        """Remove an element with its history."""
        kinds: Mapping[ElementKind, ElementsDraft[Any]] = {
            ElementKind.ENTITY: self.entities,
            ElementKind.RELATION: self.relations,
            ElementKind.MEMORY: self.memories,
        }
        kinds[kind].drop(key)
        self.history.pop(ElementRef(kind, str(key)))
        self._outdated = True

    @property
    def result(self) -> State:
        """The state as it is now; the draft is not used any more."""
        if self._outdated:
            self._forget_signatures()
        names = ("entities", "relations", "memories", "mentions", "claims", "mentioned", "groups", "proved", "types")
        return self.before.successor(**{name: getattr(self, name).result for name in (*names, "signatures", "history")})

    def _forget_signatures(self) -> None:
        """Signatures may quote what was forgotten, so they go with the last element that has them."""
        used = {
            code
            for elements in (self.entities, self.relations, self.memories)
            for code in elements.codes.result.values()
        }
        for code in set(self.signatures) - used:
            self.signatures.pop(code)
