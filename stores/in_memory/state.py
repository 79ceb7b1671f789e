"""The graph of one scope as an immutable value: a write builds a new one, and readers keep theirs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar
from uuid import UUID

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
    Injection,
    Memory,
    MemoryLink,
    Mention,
    Outcome,
    Relation,
    RelationType,
)
from graphsearch.model.signatures import Signature
from graphsearch.stores.in_memory.merging import Merging
from graphsearch.stores.in_memory.naming import Naming
from graphsearch.text.analyser import ENGLISH, Analyser

E = TypeVar("E", Entity, Relation, Memory)
T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")

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
    weights: Mapping[Any, float] = _EMPTY
    """Feedback weights of elements with an outcome; the others have the weight they were written with."""

    def get(self, key: UUID | str) -> E | None:
        """The element with its current feedback weight."""
        item = self.items.get(key)
        weight = self.weights.get(key)
        return item if item is None or weight is None else attrs.evolve(item, feedback_weight=weight)

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
    embedder: str | None = None
    dimensions: int | None = None
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
