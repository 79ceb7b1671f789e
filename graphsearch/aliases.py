"""The aliases of entities that may be seen: what only hidden memories call somebody is told to nobody.

Aliases are a fold of what entities were given, of what mentions say and of what was merged (see `graphsearch.naming`).
Where a gate hides some of these, the others are folded again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

import attrs

from graphsearch.model import Entity
from graphsearch.naming import fold_aliases, folded_name
from graphsearch.reading import Reader
from graphsearch.records import NameMatch


async def with_visible_aliases(entities: Sequence[Entity], reader: Reader) -> list[Entity]:
    """Entities that may be seen, with those of their aliases that may be; unchanged where nothing is hidden."""
    ids = [entity.id for entity in entities if entity.aliases]
    if not ids or not reader.gatekeeper.hides:
        return list(entities)
    given = {each.entity.id: each.entity.aliases for each in await reader.store.given(ids)}
    said = await _said(ids, reader)
    absorbed = {id_: await _absorbed([id_], reader) for id_ in ids}
    return [
        attrs.evolve(entity, aliases=_shown(entity, given[entity.id], said[entity.id] | absorbed[entity.id]))
        if entity.id in given
        else entity
        for entity in entities
    ]


async def visible_matches(matches: Sequence[NameMatch], reader: Reader) -> list[NameMatch]:
    """Names that were found, without those by an alias that may not be seen, of entities that may be."""
    ids = sorted({match.entity_id for match in matches if match.alias})
    if not ids or not reader.gatekeeper.hides:
        return list(matches)
    entities = await with_visible_aliases(await reader.store.get_entities(ids), reader)
    called = {entity.id: {folded_name(alias) for alias in entity.aliases} for entity in entities}
    return [match for match in matches if not match.alias or folded_name(match.name) in called.get(match.entity_id, ())]


async def _said(ids: Sequence[UUID], reader: Reader) -> Mapping[UUID, set[str]]:
    """What visible memories call entities."""
    mentions = await reader.store.list_mentions(entity_ids=ids)
    visible = await reader.gatekeeper.visible_memories(sorted({mention.memory_id for mention in mentions}))
    said: dict[UUID, set[str]] = {id_: set() for id_ in ids}
    for mention in mentions:
        if mention.memory_id in visible:
            said[mention.entity_id].add(mention.surface)
    return said


async def _absorbed(ids: Sequence[UUID], reader: Reader) -> set[str]:
    """Names and aliases that came with the entities merged into some."""
    merges = [each for each in await reader.store.merges(ids) if each.target_id in ids and each.undone_at is None]
    if not merges:
        return set()
    sources = [each.entity for each in await reader.store.given([merge.source_id for merge in merges])]
    admitted = await reader.gatekeeper.admits(sources)
    names = {
        name
        for source, allow in zip(sources, admitted, strict=True)
        if allow
        for name in (source.name, *source.aliases)
    }
    return names | await _absorbed([source.id for source in sources], reader)


def _shown(entity: Entity, given: Sequence[str], others: Iterable[str]) -> tuple[str, ...]:
    """What is shown of the aliases of an entity if only some of the names that made them are told."""
    stored = {folded_name(alias) for alias in entity.aliases}
    return tuple(alias for alias in fold_aliases(entity.name, given, others) if folded_name(alias) in stored)
