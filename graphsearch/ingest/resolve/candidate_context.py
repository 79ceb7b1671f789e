"""What of the graph a judge is shown: it prompts a language model, so all of it has passed a gate (design 4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from graphsearch.access.aliases import with_visible_aliases
from graphsearch.access.gate import Gate
from graphsearch.access.reader import reading
from graphsearch.model import Entity
from graphsearch.protocols import GraphStore
from graphsearch.text.rendering import safe_text

_LONGEST: Final = 400
"""Characters of one entity in a prompt."""


async def visible(store: GraphStore, gate: Gate, ids: Sequence[UUID]) -> Mapping[UUID, Entity]:
    """Those of some entities that the gate allows, with those of their aliases that what it allows tells."""
    async with reading(store, gate=gate) as reader:
        entities = await store.get_entities(ids)
        admitted = await reader.gatekeeper.admits(entities)
        allowed = [entity for entity, allow in zip(entities, admitted, strict=True) if allow]
        return {entity.id: entity for entity in await with_visible_aliases(allowed, reader)}


def shown(entity: Entity) -> str:
    """An entity as a judge reads it, in one line: name, type, up to five aliases, description."""
    known_as = f", also {', '.join(entity.aliases[:5])}" if entity.aliases else ""
    about = f": {entity.description}" if entity.description else ""
    return safe_text(f"{entity.name} ({entity.type}){known_as}{about}")[:_LONGEST]
