"""A draft of the next state: parts are copied on their first change, so that unchanged parts keep their indexes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

import attrs
import numpy as np

from graphsearch.model import Community, ElementKind, ElementRef, Entity, Memory, Relation, Vector
from graphsearch.model.signatures import Signature
from graphsearch.stores.in_memory.merging import MergingDraft, Original
from graphsearch.stores.in_memory.naming import NamingDraft
from graphsearch.stores.in_memory.parts import Links, Part
from graphsearch.stores.in_memory.state import Elements, State
from graphsearch.text.analyser import Analyser
from graphsearch.text.bm25 import document, searchable_text, stepped

E = TypeVar("E", Entity, Relation, Memory)


_DRAFTED: Final = (
    *("counters", "entities", "relations", "memories", "mentions", "claims", "mentioned", "groups", "proved", "types"),
    *("signatures", "history", "injections", "links", "distinct", "communities", "community_of", "merging"),
)


_FIELDS: Final = tuple(field.name for field in attrs.fields(Elements))


class ElementsDraft(Generic[E]):
    """A draft of the elements of one kind."""

    def __init__(self, before: Elements[E], analyser: Analyser) -> None:
        self._before: Elements[E] = before
        self._analyser = analyser
        self.items: Part[Any, E] = Part(before.items)
        self.codes: Part[Any, int] = Part(before.codes)
        self.documents: Part[Any, Mapping[str, float]] = Part(before.documents)
        self.words: Part[Any, Mapping[str, float]] = Part(before.words)
        self.vectors: Part[Any, Any] = Part(before.vectors)
        self.weights: Part[Any, float] = Part(before.weights)

    def put(self, element: E) -> bool:
        """Write an element; return whether that changed anything."""
        if self.items.get(element.id) == element:
            return False
        self.items.set(element.id, element)
        self._index(element)
        return True

    def put_words(self, key: object, words: Mapping[str, float]) -> None:
        """Store the words of an element in addition to its text, rounded as in every store."""
        kept = {word: stepped(weight) for word, weight in words.items()}
        if kept == (self.words.get(key) or {}):
            return
        if kept:
            self.words.set(key, kept)
        else:
            self.words.pop(key)
        self._index(self.items[key])

    def _index(self, element: E) -> None:
        found = document(searchable_text(element), self.words.get(element.id) or {}, self._analyser)
        if found == (self.documents.get(element.id) or {}):
            return
        if found:
            self.documents.set(element.id, found)
        else:
            self.documents.pop(element.id)

    def put_vector(self, key: object, vector: Vector) -> None:
        """Store a vector, rounded as in every store."""
        rounded = np.asarray(vector, np.float16)
        if (old := self.vectors.get(key)) is None or not np.array_equal(old, rounded):
            self.vectors.set(key, rounded)

    def drop(self, key: object) -> None:
        """Remove an element with its code, document, words, vector and weight."""
        for part in (self.items, self.codes, self.documents, self.words, self.vectors, self.weights):
            part.pop(key)

    @property
    def result(self) -> Elements[E]:
        """The current elements."""
        parts: dict[str, Part[Any, Any]] = {name: getattr(self, name) for name in _FIELDS}
        if not any(part.changed for part in parts.values()):
            return self._before
        return Elements(**{name: part.result for name, part in parts.items()})


class Draft:
    """A draft of a scope's state."""

    def __init__(self, before: State) -> None:
        self.before = before
        self.entities = ElementsDraft(before.entities, before.analyser)
        self.relations = ElementsDraft(before.relations, before.analyser)
        self.memories = ElementsDraft(before.memories, before.analyser)
        self.of_kind: Mapping[ElementKind, ElementsDraft[Any]] = {
            ElementKind.ENTITY: self.entities,
            ElementKind.RELATION: self.relations,
            ElementKind.MEMORY: self.memories,
        }
        self.mentions = Part(before.mentions)
        self.claims = Part(before.claims)
        self.mentioned = Links(before.mentioned)
        self.groups = Links(before.groups)
        self.proved = Links(before.proved)
        self.types = Part(before.types)
        self.signatures = Part(before.signatures)
        self.history = Part(before.history)
        self.injections = Part(before.injections)
        self.counters = Part(before.counters)
        self.naming = NamingDraft(before.naming)
        self.merging = MergingDraft(before.merging)
        self.links = Links(before.links)
        self.distinct = Links(before.distinct)
        self.communities = Part(before.communities)
        self.community_of = Part(before.community_of)
        self.embedder = before.embedder
        self.dimensions = before.dimensions
        self.dropped: list[tuple[ElementKind, Any]] = []
        self.resigned = set[UUID]()
        """Entities whose signature has changed."""
        self._outdated = False

    @cached_property
    def _codes(self) -> dict[Signature, int]:
        return {signature: code for code, signature in self.signatures.result.items()}

    @cached_property
    def _next_code(self) -> int:
        return max(self.signatures.result, default=-1) + 1

    def sign(self, elements: ElementsDraft[Any], key: object, signature: Signature) -> bool:
        """Sign an element; return whether its signature is new or has changed."""
        code = self._codes.get(signature)
        if code is None:
            code = self._codes[signature] = (
                self._next_code
            )  # small numbers, so that look-ups in columns of them are fast
            self._next_code += 1
            self.signatures.set(code, signature)
        old = elements.codes.get(key)
        if old == code:
            return False
        elements.codes.set(key, code)
        self._outdated = self._outdated or old is not None
        if elements is self.entities and old is not None and isinstance(key, UUID):
            self.resigned.add(key)
        return True

    def drop(self, kind: ElementKind, key: object) -> None:
        """Remove an element with its history and its ties."""
        self.of_kind[kind].drop(key)
        self.dropped.append((kind, key))
        self.history.pop(ElementRef(kind, str(key)))
        self._outdated = True
        if isinstance(key, str):
            self._unlink(key)
        elif kind is ElementKind.ENTITY and isinstance(key, UUID):
            self._leave(key)
            self.naming.drop(key)
        elif isinstance(key, UUID):
            self.merging.ends.pop(key)
            self.merging.revived.pop(key)

    def put_community(self, community: Community) -> None:
        """Write a community; its members must be in no other."""
        self.communities.set(community.id, community)
        for member in community.members:
            self.community_of.set(member, community.id)

    def drop_community(self, key: UUID) -> None:
        """Remove a community, if it exists."""
        if community := self.communities.get(key):
            self.communities.pop(key)
            for member in community.members:
                self.community_of.pop(member)

    def _unlink(self, memory: str) -> None:
        self.merging.proved.pop(memory)
        for link in tuple(self.links.get(memory)):
            self.links.discard(link.from_id, link)
            self.links.discard(link.to_id, link)

    def _leave(self, entity: UUID) -> None:
        for other in tuple(self.distinct.get(entity)):
            self.distinct.discard(entity, other)
            self.distinct.discard(other, entity)
        if key := self.community_of.get(entity):
            left = self.communities[key].without({entity})
            self.drop_community(key)
            if left:
                self.put_community(left)

    # -- merged entities -----------------------------------------------------------------------------------------

    def original(self, memory: str) -> Original:
        """The mentions and claims of a memory as they were written, before any of their entities was merged."""
        known = self.merging.originals.get(memory)
        return known or Original(self.mentions.get(memory) or (), self.claims.get(memory) or ())

    def upwards(self, keys: Iterable[UUID]) -> Iterator[UUID]:
        """Entities and everything that they were merged into, without repeats."""
        seen = set[UUID]()
        for key in keys:
            each: UUID | None = key
            while each is not None and each not in seen:
                seen.add(each)
                yield each
                each = self.merging.into.get(each)

    # -- the end -------------------------------------------------------------------------------------------------

    @property
    def result(self) -> State:
        """The final state, the same object if nothing changed; the draft must not be used afterwards."""
        if self._outdated:
            self._forget_signatures()
        drafted = {name: getattr(self, name).result for name in _DRAFTED}
        drafted |= {"embedder": self.embedder, "dimensions": self.dimensions}
        if self.naming.touched:
            drafted["naming"] = self.naming.result(self._renamed())
        same = all(value is getattr(self.before, name) for name, value in drafted.items())
        return self.before if same else self.before.successor(**drafted)

    def _renamed(self) -> Iterator[tuple[UUID, Sequence[str], Sequence[str]]]:
        """The entities whose searchable names have changed, with the old and the new names."""
        before, merged = self.before.entities.items, self.before.merging.into
        for key in self.upwards(self.naming.touched):
            old = () if key in merged else _names(before.get(key))
            new = () if key in self.merging.into else _names(self.entities.items.get(key))
            if old != new:
                yield key, old, new

    def _forget_signatures(self) -> None:
        """Drop unused signatures: they may quote forgotten memories."""
        used = {
            code
            for elements in (self.entities, self.relations, self.memories)
            for code in elements.codes.result.values()
        }
        for code in set(self.signatures) - used:
            self.signatures.pop(code)


def _names(entity: Entity | None) -> Sequence[str]:
    return () if entity is None else (entity.name, *entity.aliases)
