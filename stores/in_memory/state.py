"""The graph of one scope as an immutable value, and its draft: a write builds a new one, and readers keep theirs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar
from uuid import UUID, uuid4

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.model import (
    KNOWN_RELATION_TYPES,
    Claim,
    Community,
    ElementKind,
    ElementRef,
    Entity,
    Group,
    HealthRecord,
    Injection,
    Memory,
    MemoryLink,
    Mention,
    Outcome,
    Relation,
    RelationType,
    Vector,
)
from graphsearch.model.proposals import Proposal
from graphsearch.model.signatures import Signature
from graphsearch.stores.in_memory.merging import Merging, MergingDraft, Original
from graphsearch.stores.in_memory.naming import Naming, NamingDraft
from graphsearch.stores.in_memory.parts import Links, Part, ValueDraft
from graphsearch.stores.shared.reembedding import Shadow
from graphsearch.text.analyser import ENGLISH, Analyser
from graphsearch.text.bm25 import document, searchable_text, stepped

E = TypeVar("E", Entity, Relation, Memory)
T = TypeVar("T")

_EMPTY: Final[Mapping[Any, Any]] = MappingProxyType({})


@attrs.frozen(eq=False, kw_only=True)
class Elements(Generic[E]):
    """All elements of one kind. Mappings are by element id, and replaced, never mutated."""

    items: Mapping[Any, E] = _EMPTY
    codes: Mapping[Any, int] = _EMPTY
    """Signature codes."""
    documents: Mapping[Any, Mapping[str, float]] = _EMPTY
    """Term frequencies of elements that have terms."""
    words: Mapping[Any, Mapping[str, float]] = _EMPTY
    """Words that entities are found by in addition to their texts, with their weights."""
    vectors: Mapping[Any, NDArray[np.float16]] = _EMPTY
    shadows: Mapping[Any, Shadow] = _EMPTY
    """Of elements with a vector, while the embedding model is changed."""
    weights: Mapping[Any, float] = _EMPTY
    """Feedback weights of elements with an outcome; the others have the weight they were written with."""

    def get(self, key: UUID | str) -> E | None:
        """The element with its current feedback weight.

        It was validated when it was written. Validating it again would take four times as long, so it is copied.
        """
        item = self.items.get(key)
        weight = self.weights.get(key)
        if item is None or weight is None:
            return item
        current = copy(item)
        object.__setattr__(current, "feedback_weight", weight)
        return current

    def those(self, keys: Iterable[UUID | str]) -> list[E]:
        """The existing ones of some elements, in the order of their keys."""
        items = self.items
        if not self.weights:
            return [item for key in keys if (item := items.get(key))]
        return [item for key in keys if (item := self.get(key))]


@attrs.frozen(eq=False, kw_only=True)
class State:
    """The contents of one scope."""

    entities: Elements[Entity] = attrs.field(factory=Elements[Entity])
    relations: Elements[Relation] = attrs.field(factory=Elements[Relation])
    memories: Elements[Memory] = attrs.field(factory=Elements[Memory])
    counters: Mapping[str, int] = _EMPTY
    mentions: Mapping[str, tuple[Mention, ...]] = _EMPTY
    """By memory."""
    claims: Mapping[str, tuple[Claim, ...]] = _EMPTY
    """By memory."""
    mentioned: Mapping[UUID, frozenset[str]] = _EMPTY
    """The memories that mention an entity."""
    groups: Mapping[Group, frozenset[str]] = _EMPTY
    """The memories with claims of a group."""
    proved: Mapping[str, frozenset[UUID]] = _EMPTY
    """The relations that have a memory among their evidence."""
    types: Mapping[str, RelationType] = KNOWN_RELATION_TYPES
    signatures: Mapping[int, Signature] = _EMPTY
    history: Mapping[ElementRef, Mapping[str, tuple[int, Outcome]]] = _EMPTY
    """By element and session: the outcome and its sequence number among the element's outcomes, from 1."""
    injections: Mapping[str, Injection] = _EMPTY
    owners: Mapping[str, str] = _EMPTY
    """By session: the principal who opened it."""
    proposals: Mapping[UUID, Proposal] = _EMPTY
    naming: Naming = attrs.field(factory=Naming)
    merging: Merging = attrs.field(factory=Merging)
    links: Mapping[str, frozenset[MemoryLink]] = _EMPTY
    """By memory, at either end."""
    distinct: Mapping[UUID, frozenset[UUID]] = _EMPTY
    """By entity: the entities marked as distinct from it."""
    communities: Mapping[UUID, Community] = _EMPTY
    """As they were detected, without labels."""
    community_of: Mapping[UUID, UUID] = _EMPTY
    """The community of each entity."""
    analyser: Analyser = ENGLISH
    id_key: UUID = attrs.field(factory=uuid4)
    health: tuple[HealthRecord, ...] = ()
    embedder: str | None = None
    dimensions: int | None = None
    next_embedder: str | None = None
    """The model that the scope is being changed to."""
    next_dimensions: int | None = None
    _derived: dict[tuple[object, ...], tuple[tuple[object, ...], Any]] = attrs.field(factory=dict, init=False)
    _whole: dict[object, Any] = attrs.field(factory=dict, init=False)

    def elements(self, kind: ElementKind) -> Elements[Any]:
        """The elements of a kind."""
        if kind is ElementKind.ENTITY:
            return self.entities
        return self.relations if kind is ElementKind.RELATION else self.memories

    def derive(self, build: Callable[..., T], *parts: object) -> T:
        """The result of ``build`` for these parts of the state, computed once and cached while they are unchanged."""
        key = (build, *map(id, parts))
        known = self._derived.get(key)
        if known is None:
            known = self._derived[key] = (parts, build(*parts))
        value: T = known[1]
        return value

    def once(self, build: Callable[..., T], *of: Hashable) -> T:
        """The result of ``build`` for this state, or ``of`` a part of it, computed once; for expensive derivations."""
        value: T | None = self._whole.get((build, *of))
        if value is None:
            value = self._whole[build, *of] = build(self, *of)
        return value

    @property
    def size(self) -> int:
        """The number of its elements."""
        return sum(len(self.elements(kind).items) for kind in ElementKind)

    def has(self, build: Callable[..., object], *of: Hashable) -> bool:
        """Whether `once` has computed this."""
        return (build, *of) in self._whole

    def successor(self, **changes: object) -> State:
        """This state with some fields replaced. Values derived from unchanged parts stay cached."""
        later: State = attrs.evolve(self, **changes)  # type: ignore[arg-type]
        last = {id(part) for part in _parts(later)}
        for key, (parts, value) in list(self._derived.items()):  # sources of derived values come before them
            if all(id(part) in last for part in parts):
                later._derived[key] = (parts, value)
                last.add(id(value))
        return later


def _parts(state: State) -> list[object]:
    fields = [getattr(state, field.name) for field in attrs.fields(State)]
    nested = [
        getattr(part, field.name) for part in fields if isinstance(part, Elements) for field in attrs.fields(Elements)
    ]
    return fields + nested


class ElementsDraft(ValueDraft[Elements[E]]):
    """A draft of the elements of one kind."""

    def __init__(self, before: Elements[E], analyser: Analyser) -> None:
        self.before: Elements[E] = before
        self._analyser = analyser
        self.earlier: dict[Any, E] = {}
        """Changed and removed elements, as they were before the draft."""
        self._analysed: dict[str, Mapping[str, float]] = {}
        """Term frequencies by text: all relations of a sentence have it as their fact."""
        self.items: Part[Any, E] = Part(before.items)
        self.codes: Part[Any, int] = Part(before.codes)
        self.documents: Part[Any, Mapping[str, float]] = Part(before.documents)
        self.words: Part[Any, Mapping[str, float]] = Part(before.words)
        self.vectors: Part[Any, Any] = Part(before.vectors)
        self.shadows: Part[Any, Shadow] = Part(before.shadows)
        self.weights: Part[Any, float] = Part(before.weights)

    def put(self, element: E) -> bool:
        """Write an element; return whether that changed anything."""
        if (old := self.items.get(element.id)) == element:
            return False
        if old is not None:
            self.earlier.setdefault(element.id, old)
        self.items.set(element.id, element)
        self._index(element)
        return True

    def put_words(self, key: object, words: Mapping[str, float]) -> None:
        """Store the words of an element in addition to its text, rounded as in every store."""
        kept = {word: stepped(weight) for word, weight in words.items()}
        if self.words.put(key, kept):
            self._index(self.items[key])

    def _index(self, element: E) -> None:
        text, words = searchable_text(element), self.words.get(element.id)
        found = None if words else self._analysed.get(text)
        if found is None:
            found = document(text, words or {}, self._analyser)
            if not words:
                self._analysed[text] = found
        self.documents.put(element.id, found)

    def put_vector(self, key: object, vector: Vector) -> None:
        """Store a vector, rounded as in every store."""
        rounded = np.asarray(vector, np.float16)
        if (old := self.vectors.get(key)) is None or not np.array_equal(old, rounded):
            self.vectors.set(key, rounded)
            self.shadows.pop(key)

    def drop_vector(self, key: object) -> None:
        """Remove the vector of an element, and its shadow."""
        self.vectors.pop(key)
        self.shadows.pop(key)

    def drop_shadows(self) -> None:
        """Remove all shadows."""
        if self.shadows.result:
            self.shadows = Part(_EMPTY)

    def drop(self, key: object) -> None:
        """Remove an element with its code, document, words, vectors and weight."""
        if (old := self.items.get(key)) is not None:
            self.earlier.setdefault(key, old)
        for part in (self.items, self.codes, self.documents, self.words, self.vectors, self.shadows, self.weights):
            part.pop(key)


class Draft(ValueDraft[State]):
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
        self.owners = Part(before.owners)
        self.proposals = Part(before.proposals)
        self.counters = Part(before.counters)
        self.naming = NamingDraft(before.naming)
        self.merging = MergingDraft(before.merging)
        self.links = Links(before.links)
        self.distinct = Links(before.distinct)
        self.communities = Part(before.communities)
        self.community_of = Part(before.community_of)
        self.health = before.health
        self.embedder = before.embedder
        self.dimensions = before.dimensions
        self.next_embedder = before.next_embedder
        self.next_dimensions = before.next_dimensions
        self.dropped: list[tuple[ElementKind, Any]] = []
        self.resigned = set[UUID]()
        """Entities whose signature has changed."""
        self._outdated = False
        self._least_code = 0

    def reserve_codes(self, least: int) -> None:
        """Give no signature a code below ``least``; before the first is signed."""
        self._least_code = least

    @cached_property
    def _codes(self) -> dict[Signature, int]:
        return {signature: code for code, signature in self.signatures.result.items()}

    @cached_property
    def _next_code(self) -> int:
        return max(self.signatures.result, default=self._least_code - 1) + 1

    def sign(self, elements: ElementsDraft[Any], key: object, signature: Signature) -> bool:
        """Sign an element; return whether its signature is new or has changed."""
        code = self._codes.get(signature)
        if code is None:
            code = self._codes[signature] = self._next_code  # small, so that look-ups in columns of codes are fast
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

    # -- the end -------------------------------------------------------------------------------------------------

    def finished(self) -> Generator[None, None, State]:
        """The final state, in steps; the same object if nothing changed. The draft must not be used afterwards."""
        if self._outdated:
            self._forget_signatures()
        for key, old, new in self._renamed():
            self.naming.index.rename(key, old, new)
            yield
        return self.before.successor(**changes) if (changes := self.changes()) else self.before

    def _renamed(self) -> Iterator[tuple[UUID, Sequence[str], Sequence[str]]]:
        """The entities whose searchable names have changed, with the old and the new names."""
        before, merged = self.before.entities.items, self.before.merging.into
        for key in self.merging.above(self.naming.touched):
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
