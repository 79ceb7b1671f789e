"""What somebody may see of a graph and change in it: every read through a gate, every change asked for beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final

import attrs

from graphsearch.access.gate import ALLOW_ALL, Gate
from graphsearch.access.reader import Reader, reading
from graphsearch.access.references import with_visible_aliases
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import UnknownElementError
from graphsearch.model import Action, Entity, Memory, Relation
from graphsearch.protocols import GraphStore

PAGE: Final = 1_000
"""How many elements are read, or asked for, at a time."""


@attrs.frozen(eq=False)
class Access:
    """An engine, and who uses it; without a gate everything is allowed."""

    engine: GraphSearchEngine
    gate: Gate | None = None

    @property
    def store(self) -> GraphStore:
        """What is read and changed."""
        return self.engine.store

    @property
    def gated(self) -> bool:
        """Whether anything may be hidden or denied."""
        return self.gate is not None and not self.gate.allows_all

    def reading(self) -> AbstractAsyncContextManager[Reader]:
        """A snapshot, of which only what may be seen comes out."""
        return reading(self.store, gate=self.gate)

    async def demand(self, action: Action, elements: Iterable[Entity | Relation | Memory]) -> None:
        """Raise `AccessDeniedError` unless the action is allowed for every element."""
        await (self.gate or ALLOW_ALL).bind(self.store.scope, action).demand(elements)

    async def memories(self, ids: Sequence[str], reader: Reader) -> list[Memory]:
        """Memories in the order of ``ids``; `UnknownElementError` names those not there, or not to be seen."""
        found = {memory.id: memory for memory in await self.store.get_memories(ids)}
        visible = await reader.gatekeeper.visible_memories(list(found))
        absent = [id_ for id_ in dict.fromkeys(ids) if id_ not in visible]
        if absent:
            raise UnknownElementError(f"no memory {' and no memory '.join(map(repr, absent))} in {self.store.scope}")
        return [found[id_] for id_ in ids]

    async def seen(self, entities: Sequence[Entity], reader: Reader) -> list[Entity]:
        """Those of some entities that may be seen, with those of their aliases that what may be seen tells."""
        admitted = await reader.gatekeeper.admits(entities)
        visible = [entity for entity, allow in zip(entities, admitted, strict=True) if allow]
        return await with_visible_aliases(visible, reader)
