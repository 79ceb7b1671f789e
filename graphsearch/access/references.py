"""Names of entities behind a gate: their visible aliases, and references by an id, a name or an alias.

An alias that only hidden memories use is not shown. Aliases are a fold of asserted aliases, of surface forms and of
merged entities; see `graphsearch.claims.naming`. If a gate hides some of these, the rest is folded again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.reader import Reader
from graphsearch.claims.naming import fold_aliases, folded_name
from graphsearch.errors import UnknownElementError
from graphsearch.model import Entity, NameMatch
from graphsearch.model.identity import normalise_name
from graphsearch.protocols import GraphStore

_LOOKED_AT: Final = 8
"""Memories requested per surface form at first: usually one of them is visible."""
_WIDER: Final = 8
"""The factor by which each further round requests more."""


async def with_visible_aliases(entities: Sequence[Entity], reader: Reader) -> list[Entity]:
    """Visible entities with their visible aliases; unchanged if nothing is hidden."""
    ids = [entity.id for entity in entities if entity.aliases]
    if not ids or not reader.gatekeeper.hides:
        return list(entities)
    given = {each.entity.id: each.entity.aliases for each in await reader.store.asserted(ids)}
    surfaces_of, absorbed = await _visible_surfaces(ids, reader), await _absorbed(ids, reader)
    return [
        attrs.evolve(entity, aliases=_shown(entity, given[entity.id], surfaces_of[entity.id] | absorbed[entity.id]))
        if entity.id in given
        else entity
        for entity in entities
    ]


async def visible_matches(matches: Sequence[NameMatch], reader: Reader) -> list[NameMatch]:
    """The name matches of visible entities, without those by a hidden alias."""
    ids = sorted({match.entity_id for match in matches if match.alias})
    if not ids or not reader.gatekeeper.hides:
        return list(matches)
    called = {id_: set(map(folded_name, names)) for id_, names in (await _absorbed(ids, reader)).items()}
    for given in await reader.store.asserted(ids):
        called[given.entity.id].update(map(folded_name, given.entity.aliases))
    left = [match for match in matches if match.alias and folded_name(match.name) not in called[match.entity_id]]
    surfaces_of = await _visible_surfaces(
        sorted({match.entity_id for match in left}), reader, names=sorted({match.name for match in left})
    )
    for id_, surfaces in surfaces_of.items():
        called[id_].update(map(folded_name, surfaces))
    return [match for match in matches if not match.alias or folded_name(match.name) in called[match.entity_id]]


async def _visible_surfaces(
    ids: Sequence[UUID], reader: Reader, names: Sequence[str] | None = None
) -> Mapping[UUID, set[str]]:
    """The surface forms of entities in visible memories; only of ``names`` if given.

    One visible memory per surface form is enough, so that few are read first, and more if these are all hidden.
    """
    surfaces_of: dict[UUID, set[str]] = {id_: set() for id_ in ids}
    asked, limit = ids, _LOOKED_AT
    while asked:
        found = await reader.store.surface_forms(asked, names=names, limit=limit)
        open_ = [each for each in found if each.surface not in surfaces_of[each.entity_id]]
        visible = await reader.gatekeeper.visible_memories(sorted({id_ for each in open_ for id_ in each.memory_ids}))
        for each in open_:
            if not visible.isdisjoint(each.memory_ids):
                surfaces_of[each.entity_id].add(each.surface)
        asked = sorted(
            {
                each.entity_id
                for each in open_
                if each.surface not in surfaces_of[each.entity_id] and len(each.memory_ids) == limit
            }
        )
        limit *= _WIDER
    return surfaces_of


async def _absorbed(ids: Sequence[UUID], reader: Reader) -> Mapping[UUID, set[str]]:
    """Names and asserted aliases of entities that were merged into others, as far as visible."""
    names: dict[UUID, set[str]] = {id_: set() for id_ in ids}
    merges = [each for each in await reader.store.merges(ids) if each.target_id in names and each.undone_at is None]
    if not merges:
        return names
    source_ids = [merge.source_id for merge in merges]
    sources = await reader.store.get_entities(source_ids)
    admitted = await reader.gatekeeper.admits(sources)
    given = {each.entity.id: each.entity.aliases for each in await reader.store.asserted(source_ids)}
    below = await _absorbed(source_ids, reader)
    own = {
        source.id: {source.name, *given[source.id]} if allow else set[str]()
        for source, allow in zip(sources, admitted, strict=True)
    }
    for merge in merges:
        names[merge.target_id] |= own[merge.source_id] | below[merge.source_id]
    return names


def _shown(entity: Entity, given: Sequence[str], others: Iterable[str]) -> tuple[str, ...]:
    """The aliases of an entity that follow from the visible ones of the names they were folded from."""
    stored = {folded_name(alias) for alias in entity.aliases}
    return tuple(alias for alias in fold_aliases(entity.name, given, others) if folded_name(alias) in stored)


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
