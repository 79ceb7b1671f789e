"""Gated access to a graph for curation: every read passes a gate, every change is authorized beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from uuid import UUID

import attrs

from graphsearch._support.paging import PAGE, pages
from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.access.reader import Reader, reading
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import AccessDeniedError, MissingDependencyError, PartialViewError, UnknownElementError
from graphsearch.model import Action, Entity, Memory, Relation
from graphsearch.protocols import GraphStore


@attrs.frozen(eq=False)
class Access:
    """An engine and the gate it is used through; without a gate everything is allowed."""

    engine: GraphSearchEngine
    gate: Gate | None = None

    @property
    def store(self) -> GraphStore:
        """The store of the engine."""
        return self.engine.store

    @property
    def gated(self) -> bool:
        """Whether anything may be hidden or denied."""
        return self.gate is not None and not self.gate.allows_all

    def reading(self) -> AbstractAsyncContextManager[Reader]:
        """Open a snapshot through the gate."""
        return reading(self.store, gate=self.gate)

    async def demand_whole(self, wanted: str, reader: Reader) -> None:
        """Raise `PartialViewError` if anything may be hidden from the principal."""
        if not await reader.sees_everything():
            raise PartialViewError(wanted)

    async def demand(self, action: Action, elements: Iterable[Entity | Relation | Memory]) -> None:
        """Raise `AccessDeniedError` unless the action is allowed for every element."""
        await (self.gate or ALLOW_ALL).bind(self.store.scope, action).demand(elements)

    def demand_gate(self, what: str) -> None:
        """Raise `MissingDependencyError` without a gate, for what a language model is shown."""
        if self.gate is None:
            raise MissingDependencyError(
                f"{what} to a language model and needs a gate: pass Curator(engine, gate=Gate(authorizer, principal)),"
                " or gate=ALLOW_ALL where all of it may be shown"
            )

    def demand_membership(self, stores: Iterable[GraphStore]) -> None:
        """Raise `AccessDeniedError` if the principal is not a member of every scope."""
        if self.gate is None or self.gate.allows_all:
            return
        own = {self.store.scope, *self.gate.principal.projects}
        if any(store.scope not in own for store in stores):
            raise AccessDeniedError(Action.READ.value)

    async def stored_entities(self, ids: Sequence[UUID]) -> list[Entity]:
        """Entities in the order of ``ids``, not yet filtered by a gate; absent ones are left out."""
        parts = [ids[start : start + PAGE] for start in range(0, len(ids), PAGE)]
        return [each for some in parts for each in await self.store.get_entities(some)]

    async def stored_relations(self, entity_id: UUID) -> list[Relation]:
        """Every unretracted relation of an entity, in either direction, by id; not yet filtered by a gate."""
        return [each async for page in pages(self.store.list_relations, entity_id=entity_id) for each in page]

    async def visible_memories(self, ids: Sequence[str], reader: Reader) -> list[Memory]:
        """Memories in the order of ``ids``; raise `UnknownElementError` for those absent or not visible."""
        found = {memory.id: memory for memory in await reader.get_memories(ids)}
        absent = [id_ for id_ in dict.fromkeys(ids) if id_ not in found]
        if absent:
            raise UnknownElementError(f"no memory {' and no memory '.join(map(repr, absent))} in {self.store.scope}")
        return [found[id_] for id_ in ids]
