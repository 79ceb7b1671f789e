"""Reading whole elements, and the mentions and claims behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol, TypedDict, Unpack
from uuid import UUID

from graphsearch.columns import Keys
from graphsearch.model import Claim, ElementKind, Entity, Group, Memory, Mention, Relation, RelationType, Statistics
from graphsearch.protocols.effects import reads


class MemoryFilters(TypedDict, total=False):
    """What memories are listed: those that pass every filter that is given and not None.

    * ``source``, ``session_id``, ``subject``: equal to these. ``label``: among their labels.
    * ``owner``: equal to their attribute of that name, as policies read it; empty without one.
    * ``before``: they occurred earlier, or, where that is not known, were written earlier.
    """

    source: str | None
    session_id: str | None
    subject: str | None
    owner: str | None
    label: str | None
    before: datetime | None


class Reading(Protocol):
    """Whole elements by id, by key and by page.

    Unknown ids are left out of results. Pages are in order of id, by code point for memories; ``after`` is the last id
    of the previous page. A negative ``limit`` raises `InvalidInputError`.
    """

    @reads
    async def get_entities(self, ids: Sequence[UUID]) -> Sequence[Entity]:
        """Entities in the order of ``ids``."""
        ...

    @reads
    async def get_relations(self, ids: Sequence[UUID]) -> Sequence[Relation]:
        """Relations in the order of ``ids``, including retracted ones."""
        ...

    @reads
    async def get_memories(self, ids: Sequence[str]) -> Sequence[Memory]:
        """Memories in the order of ``ids``."""
        ...

    @reads
    async def elements(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        """The elements behind keys of one kind, in their order, one for each key."""
        ...

    @reads
    async def list_entities(
        self, *, after: UUID | None = None, limit: int = 100, type: str | None = None
    ) -> Sequence[Entity]:
        """The next page of entities, of one type if given."""
        ...

    @reads
    async def list_relations(
        self, *, after: UUID | None = None, limit: int = 100, type: str | None = None, entity_id: UUID | None = None
    ) -> Sequence[Relation]:
        """The next page of unretracted relations, of one type and of one entity if given."""
        ...

    @reads
    async def list_memories(
        self, *, after: str | None = None, limit: int = 100, **filters: Unpack[MemoryFilters]
    ) -> Sequence[Memory]:
        """The next page of the memories that pass all filters."""
        ...

    @reads
    async def list_mentions(
        self, *, memory_ids: Sequence[str] = (), entity_ids: Sequence[UUID] = ()
    ) -> Sequence[Mention]:
        """Mentions in any of the memories or of any of the entities, by (memory, entity, span)."""
        ...

    @reads
    async def list_claims(
        self, *, memory_ids: Sequence[str] = (), relation_ids: Sequence[UUID] = (), groups: Sequence[Group] = ()
    ) -> Sequence[Claim]:
        """Claims of any of the memories, behind any of the relations or folded in any of the groups.

        In fold order. A claim that a merge has turned into a claim of an entity about itself is not folded.
        """
        ...

    @reads
    async def relation_types(self) -> Mapping[str, RelationType]:
        """Relation types by name: the defaults and the registered ones."""
        ...

    @reads
    async def statistics(self) -> Statistics:
        """Element counts of the scope."""
        ...
