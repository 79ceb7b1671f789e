"""Content of the graph in prompts of entity matching; all of it has passed a gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from graphsearch.access.gate import Gate
from graphsearch.access.reader import reading
from graphsearch.access.references import with_visible_aliases
from graphsearch.model import Entity
from graphsearch.protocols import GraphStore
from graphsearch.text.rendering import safe_text

_LONGEST: Final = 400
"""Most characters of one entity in a prompt."""


async def visible(store: GraphStore, gate: Gate, ids: Sequence[UUID]) -> Mapping[UUID, Entity]:
    """The entities that the gate allows, by id, with the aliases that are proved by elements it allows."""
    async with reading(store, gate=gate) as reader:
        entities = await store.get_entities(ids)
        admitted = await reader.gatekeeper.admits(entities)
        allowed = [entity for entity, allow in zip(entities, admitted, strict=True) if allow]
        return {entity.id: entity for entity in await with_visible_aliases(allowed, reader)}


def shown(entity: Entity) -> str:
    """An entity as one line of a prompt: name, type, up to five aliases, description."""
    known_as = f", also {', '.join(entity.aliases[:5])}" if entity.aliases else ""
    about = f": {entity.description}" if entity.description else ""
    return safe_text(f"{entity.name} ({entity.type}){known_as}{about}")[:_LONGEST]
