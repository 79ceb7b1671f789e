"""What goes into a store and what it reports back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.errors import InvalidInputError
from graphsearch.model import Claim, ElementKind, Entity, Memory, Mention, Outcome, Relation

Vector = NDArray[np.float32]

_NO_VECTORS: Final[Mapping[Any, Vector]] = MappingProxyType({})


def _items(values: Iterable[Any]) -> tuple[Any, ...]:
    """Any iterable as a tuple; `tuple` itself, as a converter, is a type that mypy cannot follow."""
    return tuple(values)


@attrs.frozen(kw_only=True)
class Batch:
    """What one transaction writes.

    * ``entities`` and ``relations`` replace those of the same id, but never their feedback or ``created_at``.
    * ``memories`` replace those of the same id together with everything they proved: a memory's mentions and claims
      are exactly the ones in this batch. Relations are then folded from the claims again.
    * ``vectors`` are of entities (by UUID), memories (by their text id) and relations' facts (by UUID). An element
      written without one keeps the vector it has.
    """

    entities: tuple[Entity, ...] = attrs.field(default=(), converter=_items)
    relations: tuple[Relation, ...] = attrs.field(default=(), converter=_items)
    memories: tuple[Memory, ...] = attrs.field(default=(), converter=_items)
    mentions: tuple[Mention, ...] = attrs.field(default=(), converter=_items)
    claims: tuple[Claim, ...] = attrs.field(default=(), converter=_items)
    vectors: Mapping[Any, Vector] = _NO_VECTORS


@attrs.frozen(kw_only=True)
class WriteReport:
    """What a write or a deletion changed: numbers of elements."""

    entities: int = 0
    relations: int = 0
    memories: int = 0
    relations_retracted: int = 0
    entities_removed: int = 0


class ElementRef(NamedTuple):
    """Any element of a scope: its kind and its id as text."""

    kind: ElementKind
    id: str

    @property
    def key(self) -> UUID | str:
        """The id as the element itself has it. Raises `InvalidInputError` where it cannot be one."""
        if self.kind is ElementKind.MEMORY:
            return self.id
        try:
            return UUID(self.id)
        except ValueError as error:
            raise InvalidInputError(f"{self.kind} {self.id!r}", ["the id must be a UUID"]) from error


@attrs.frozen(kw_only=True)
class Injection:
    """What was surfaced to a session: ids only, never text of the graph."""

    id: str
    session_id: str
    principal: str
    created_at: datetime
    tokens: int
    elements: tuple[ElementRef, ...] = attrs.field(converter=_items)


@attrs.frozen(kw_only=True)
class FeedbackReport:
    """What an outcome did, element by element."""

    applied: tuple[ElementRef, ...] = ()
    replaced: tuple[ElementRef, ...] = ()
    repeated: tuple[ElementRef, ...] = ()
    missing: tuple[ElementRef, ...] = ()
    """Surfaced once, deleted since."""
    denied: int = 0


@attrs.frozen(kw_only=True)
class OutcomeRecord:
    """One line of an element's history; folding the outcomes in order of ``seq`` gives its weight."""

    element: ElementRef
    session_id: str
    seq: int
    outcome: Outcome


@attrs.frozen(kw_only=True)
class NameMatch:
    """An entity that has a name, or an alias, that was asked for."""

    name: str
    entity_id: UUID
    alias: bool


@attrs.frozen(kw_only=True)
class Statistics:
    """Numbers of a scope."""

    entities: int
    relations: int
    memories: int
    claims: int
    mentions: int
    entities_by_type: Mapping[str, int]
    relations_by_type: Mapping[str, int]
    embedder: str | None
    dimensions: int | None
    max_degree: int
    mean_degree: float
