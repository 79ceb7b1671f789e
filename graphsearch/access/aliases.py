"""The visible aliases of entities: an alias that only hidden memories use is not shown.

Aliases are a fold of asserted aliases, of surface forms and of merged entities; see `graphsearch.claims.naming`. If a
gate hides some of these, the rest is folded again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

import attrs

from graphsearch.access.reader import Reader
from graphsearch.claims.naming import fold_aliases, folded_name
from graphsearch.model import Entity, NameMatch

_LOOKED_AT: Final = 8
"""Memories requested per surface form at first: usually one of them is visible."""
_WIDER: Final = 8
"""The factor by which each further round requests more."""


async def with_visible_aliases(entities: Sequence[Entity], reader: Reader) -> list[Entity]:
    """Visible entities with their visible aliases; unchanged if nothing is hidden."""
    ids = [entity.id for entity in entities if entity.aliases]
    if not ids or not reader.gatekeeper.hides:
        return list(entities)
    given = {each.entity.id: each.entity.aliases for each in await reader.store.given(ids)}
    said, absorbed = await _said(ids, reader), await _absorbed(ids, reader)
    return [
        attrs.evolve(entity, aliases=_shown(entity, given[entity.id], said[entity.id] | absorbed[entity.id]))
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
    for given in await reader.store.given(ids):
        called[given.entity.id].update(map(folded_name, given.entity.aliases))
    left = [match for match in matches if match.alias and folded_name(match.name) not in called[match.entity_id]]
    said = await _said(
        sorted({match.entity_id for match in left}), reader, names=sorted({match.name for match in left})
    )
    for id_, surfaces in said.items():
        called[id_].update(map(folded_name, surfaces))
    return [match for match in matches if not match.alias or folded_name(match.name) in called[match.entity_id]]


async def _said(ids: Sequence[UUID], reader: Reader, names: Sequence[str] | None = None) -> Mapping[UUID, set[str]]:
    """The surface forms of entities in visible memories; only of ``names`` if given.

    One visible memory per surface form is enough, so that few are read first, and more if these are all hidden.
    """
    said: dict[UUID, set[str]] = {id_: set() for id_ in ids}
    asked, limit = ids, _LOOKED_AT
    while asked:
        found = await reader.store.sayings(asked, names=names, limit=limit)
        open_ = [each for each in found if each.surface not in said[each.entity_id]]
        visible = await reader.gatekeeper.visible_memories(sorted({id_ for each in open_ for id_ in each.memory_ids}))
        for each in open_:
            if not visible.isdisjoint(each.memory_ids):
                said[each.entity_id].add(each.surface)
        asked = sorted(
            {
                each.entity_id
                for each in open_
                if each.surface not in said[each.entity_id] and len(each.memory_ids) == limit
            }
        )
        limit *= _WIDER
    return said


async def _absorbed(ids: Sequence[UUID], reader: Reader) -> Mapping[UUID, set[str]]:
    """Names and asserted aliases of entities that were merged into others, as far as visible."""
    names: dict[UUID, set[str]] = {id_: set() for id_ in ids}
    merges = [each for each in await reader.store.merges(ids) if each.target_id in names and each.undone_at is None]
    if not merges:
        return names
    source_ids = [merge.source_id for merge in merges]
    sources = await reader.store.get_entities(source_ids)
    admitted = await reader.gatekeeper.admits(sources)
    given = {each.entity.id: each.entity.aliases for each in await reader.store.given(source_ids)}
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
