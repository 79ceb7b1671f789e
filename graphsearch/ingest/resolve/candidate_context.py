"""Content of the graph in prompts of entity matching; all of it has passed a gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from graphsearch.access.gate import Gate
from graphsearch.access.reader import reading
from graphsearch.model import Entity
from graphsearch.protocols import GraphStore
from graphsearch.text.rendering import safe_text

_LONGEST: Final = 400
"""Most characters of one entity in a prompt."""


async def visible(store: GraphStore, gate: Gate, ids: Sequence[UUID]) -> Mapping[UUID, Entity]:
    """The visible ones of some entities by id, in their visible forms."""
    async with reading(store, gate=gate) as reader:
        return {entity.id: entity for entity in await reader.get_entities(ids)}


def shown(entity: Entity) -> str:
    """An entity as one line of a prompt: name, type, up to five aliases, description."""
    known_as = f", also {', '.join(entity.aliases[:5])}" if entity.aliases else ""
    about = f": {entity.description}" if entity.description else ""
    return safe_text(f"{entity.name} ({entity.type}){known_as}{about}")[:_LONGEST]
