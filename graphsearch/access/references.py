"""References to an entity: by its id, or by a name or alias that only one visible entity has."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from graphsearch.access.aliases import visible_matches
from graphsearch.access.reader import Reader
from graphsearch.errors import UnknownElementError
from graphsearch.model import Entity, NameMatch
from graphsearch.model.identity import normalise_name
from graphsearch.protocols import GraphStore

EntityRef = UUID | str
"""A reference to an entity: its id, or a name or alias that only one entity has."""


async def resolve(entity: EntityRef, reader: Reader) -> UUID:
    """The id of the one entity that holds in the view and has that name. Raises `UnknownElementError`."""
    matches = await _matches(entity, reader.store)
    visible = await reader.locate(sorted({match.entity_id for match in matches}))
    return await _only(entity, matches, reader.store.entity_ids(visible.keys), reader)


async def known(entity: EntityRef, reader: Reader) -> Entity:
    """The same for entities of any time; for a merged one, the entity it was merged into."""
    matches = await _matches(entity, reader.store)
    found = {match.entity_id: await _by_now(match.entity_id, reader.store) for match in matches}
    there = [each for each in found.values() if each is not None]
    admitted = await reader.gatekeeper.admits(there)
    visible = {each.id: each for each, allow in zip(there, admitted, strict=True) if allow}
    became = [
        NameMatch(name=match.name, entity_id=now.id, alias=match.alias)
        for match in matches
        if (now := found[match.entity_id]) is not None
    ]
    return visible[await _only(entity, became, visible, reader)]


async def _matches(entity: EntityRef, store: GraphStore) -> Sequence[NameMatch]:
    if isinstance(entity, UUID):
        return [NameMatch(name="", entity_id=entity, alias=False)]
    return await store.find_names([normalise_name(entity)])


async def _by_now(entity_id: UUID, store: GraphStore) -> Entity | None:
    found = await store.get_entities([entity_id])
    while found and found[0].merged_into is not None:
        found = await store.get_entities([found[0].merged_into])
    return found[0] if found else None


async def _only(entity: EntityRef, matches: Sequence[NameMatch], visible: Collection[UUID], reader: Reader) -> UUID:
    """Prefer names to aliases, among visible entities."""
    seen = await visible_matches([match for match in matches if match.entity_id in visible], reader)
    ids = {match.entity_id for match in seen if not match.alias} or {match.entity_id for match in seen}
    if len(ids) != 1:
        found = f"{len(ids)} entities" if ids else "no entity"
        raise UnknownElementError(f"{found} called {str(entity)!r} in {reader.store.scope}; pass an id")
    return ids.pop()
