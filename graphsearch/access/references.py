"""References to entities: by an id, or by a visible name or alias that only one visible entity has."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from uuid import UUID

from graphsearch.access.reader import Reader
from graphsearch.errors import UnknownElementError
from graphsearch.model import Entity, NameMatch
from graphsearch.model.identity import normalise_name

EntityRef = UUID | str
"""A reference to an entity: its id, or a name or alias that only one entity has."""


async def resolve(entity: EntityRef, reader: Reader) -> UUID:
    """The id of the one entity that holds in the view and has that name. Raises `UnknownElementError`."""
    matches = await _matches(entity, reader)
    visible = await reader.locate(sorted({match.entity_id for match in matches}))
    return _only(entity, matches, reader.entity_ids(visible.keys), reader)


async def known(entity: EntityRef, reader: Reader) -> Entity:
    """The same for entities of any time; for a merged one, the entity it was merged into."""
    matches = await _matches(entity, reader)
    found = {match.entity_id: await _final(match.entity_id, reader) for match in matches}
    finals = [
        NameMatch(name=match.name, entity_id=final.id, alias=match.alias)
        for match in matches
        if (final := found[match.entity_id]) is not None
    ]
    visible = {each.id: each for each in found.values() if each}
    return visible[_only(entity, finals, visible, reader)]


async def _matches(entity: EntityRef, reader: Reader) -> Sequence[NameMatch]:
    if isinstance(entity, UUID):
        return [NameMatch(name="", entity_id=entity, alias=False)]
    return await reader.find_names([normalise_name(entity)])


async def _final(entity_id: UUID, reader: Reader) -> Entity | None:
    """The visible entity that one was finally merged into."""
    found = await reader.get_entities([entity_id])
    while found and found[0].merged_into is not None:
        found = await reader.get_entities([found[0].merged_into])
    return found[0] if found else None


def _only(entity: EntityRef, matches: Sequence[NameMatch], visible: Collection[UUID], reader: Reader) -> UUID:
    """Prefer names to aliases, among visible entities."""
    seen = [match for match in matches if match.entity_id in visible]
    ids = {match.entity_id for match in seen if not match.alias} or {match.entity_id for match in seen}
    if len(ids) != 1:
        found = f"{len(ids)} entities" if ids else "no entity"
        raise UnknownElementError(f"{found} called {str(entity)!r} in {reader.scope}; pass an id")
    return ids.pop()
