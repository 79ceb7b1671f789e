"""A state in the making: parts are copied when first changed, so that a write that leaves a part leaves its indexes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

import attrs
import numpy as np

from graphsearch.model import Community, ElementKind, ElementRef, Entity, Memory, Relation, Vector
from graphsearch.model.signatures import Signature
from graphsearch.stores.in_memory.merging import MergingDraft
from graphsearch.stores.in_memory.naming import NamingDraft
from graphsearch.stores.in_memory.parts import Links, Part
from graphsearch.stores.in_memory.state import Elements, State
from graphsearch.text.analyser import Analyser
from graphsearch.text.bm25 import document, searchable_text, stepped

E = TypeVar("E", Entity, Relation, Memory)


_DRAFTED: Final = (
    *("counters", "entities", "relations", "memories", "mentions", "claims", "mentioned", "groups", "proved", "types"),
    *("signatures", "history", "links", "distinct", "communities", "community_of"),
)


class ElementsDraft(Generic[E]):
    """The elements of one kind in the making."""

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
        """Write an element if that changes anything; whether it did."""
        if self.items.get(element.id) == element:
            return False
        self.items.set(element.id, element)
        self._index(element)
        return True

    def put_words(self, key: object, words: Mapping[str, float]) -> None:
        """Keep what an element is found by beside its text, rounded as every store rounds it."""
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
        """Keep a vector, rounded as every store rounds it."""
        rounded = np.asarray(vector, np.float16)
        if (old := self.vectors.get(key)) is None or not np.array_equal(old, rounded):
            self.vectors.set(key, rounded)

    def drop(self, key: object) -> None:
        """Remove an element and all that hangs on it here."""
        for part in (self.items, self.codes, self.documents, self.words, self.vectors, self.weights):
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
        self.entities = ElementsDraft(before.entities, before.analyser)
        self.relations = ElementsDraft(before.relations, before.analyser)
        self.memories = ElementsDraft(before.memories, before.analyser)
        self.mentions = Part(before.mentions)
        self.claims = Part(before.claims)
        self.mentioned = Links(before.mentioned)
        self.groups = Links(before.groups)
        self.proved = Links(before.proved)
        self.types = Part(before.types)
        self.signatures = Part(before.signatures)
        self.history = Part(before.history)
        self.counters = Part(before.counters)
        self.naming = NamingDraft(before.naming)
        self.merging = MergingDraft(before.merging)
        self.links = Links(before.links)
        self.distinct = Links(before.distinct)
        self.communities = Part(before.communities)
        self.community_of = Part(before.community_of)
        self._codes = {signature: code for code, signature in before.signatures.items()}
        self._next_code = max(before.signatures, default=-1) + 1
        self.dropped: list[tuple[ElementKind, Any]] = []
        self.resigned = set[UUID]()
        """Entities that have another signature than before."""
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
        if elements is self.entities and old is not None and isinstance(key, UUID):
            self.resigned.add(key)
        return True

    def drop(self, kind: ElementKind, key: object) -> None:
        """Remove an element with its history and what it was tied to."""
        kinds: Mapping[ElementKind, ElementsDraft[Any]] = {
            ElementKind.ENTITY: self.entities,
            ElementKind.RELATION: self.relations,
            ElementKind.MEMORY: self.memories,
        }
        kinds[kind].drop(key)
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
        """Write a community, of whose members none is in another."""
        self.communities.set(community.id, community)
        for member in community.members:
            self.community_of.set(member, community.id)

    def drop_community(self, key: UUID) -> None:
        """Remove a community, if it is there."""
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

    @property
    def result(self) -> State:
        """The state as it is now; the draft is not used any more."""
        if self._outdated:
            self._forget_signatures()
        drafted = {name: getattr(self, name).result for name in _DRAFTED}
        return self.before.successor(**drafted, merging=self.merging.result, naming=self.naming.result(self))

    def _forget_signatures(self) -> None:
        """Signatures may quote what was forgotten, so they go with the last element that has them."""
        used = {
            code
            for elements in (self.entities, self.relations, self.memories)
            for code in elements.codes.result.values()
        }
        for code in set(self.signatures) - used:
            self.signatures.pop(code)
