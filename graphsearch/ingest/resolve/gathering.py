"""Fetch the candidate entities for a batch of names from a store: one round trip per lookup for the whole batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar
from uuid import UUID

from graphsearch.ingest.resolve.name_stages import Context, by_alias, by_id
from graphsearch.ingest.resolve.resolution import NameStore, ResolutionOptions
from graphsearch.model import Entity
from graphsearch.model.identity import entity_id
from graphsearch.names.candidate_index import CandidateIndex, lookups
from graphsearch.names.typed_names import TypedName

Item = TypeVar("Item")


async def gather(names: NameStore, batch: Sequence[TypedName], options: ResolutionOptions) -> CandidateIndex:
    """The candidates that the stages up to trigrams need. Names found exactly are not looked up in other ways."""
    known = CandidateIndex(similarity=options.trigram)
    written = [form for named in batch for form in (named.name, *(form.shown for form in named.forms))]
    exact = await names.find_names(_once(written))
    minted = [entity_id(named.type or options.untyped, named.form.shown) for named in batch]
    await fetch(names, known, [*(match.entity_id for match in exact), *minted])
    context = Context(known=known, options=options)
    left = [named for named in batch if not (by_id(named, context) or by_alias(named, context))]
    if left:
        await fetch(names, known, await _alike(names, left, options))
    return known


async def _alike(names: NameStore, batch: Sequence[TypedName], options: ResolutionOptions) -> list[UUID]:
    asked = [lookups(named) for named in batch]
    words = await names.find_name_words(_once(word for words, _ in asked for word in words))
    prefixes = _once(prefix for _, found in asked for prefix in found)
    started = await names.find_name_words(prefixes, prefix=True) if prefixes else ()
    similar = await names.similar_names(
        _once(named.form.shown for named in batch),
        threshold=options.trigram,
        limit=options.candidates,
    )
    worded = [match.entity_id for match in (*words, *started)]
    return [*worded, *(match.entity_id for matches in similar.values() for match in matches)]


async def fetch(names: NameStore, known: CandidateIndex, ids: Iterable[UUID]) -> None:
    """Add entities to the known ones; the names of a merged entity are added to the one it was merged into."""
    seen = set(known.entities)
    merged: dict[UUID, Entity] = {}
    wanted = [each for each in _once(ids) if each not in seen]
    while wanted:
        seen.update(wanted)
        for entity in await names.get_entities(wanted):
            if entity.merged_into is None:
                known.add(entity)
            else:
                merged[entity.id] = entity
        wanted = [each for each in _once(_targets(merged.values())) if each not in seen]
    for entity in merged.values():
        target = _final(entity, merged)
        if target is not None and target in known.entities:
            for name in (entity.name, *entity.aliases):
                known.add_name(target, name)


def _targets(entities: Iterable[Entity]) -> Iterable[UUID]:
    return (entity.merged_into for entity in entities if entity.merged_into is not None)


def _final(entity: Entity, merged: Mapping[UUID, Entity]) -> UUID | None:
    """The entity at the end of a chain of merges; None for a cycle."""
    passed: set[UUID] = set()
    target = entity.merged_into
    while target is not None and target in merged:
        if target in passed:
            return None
        passed.add(target)
        target = merged[target].merged_into
    return target


def _once(items: Iterable[Item]) -> list[Item]:
    return list(dict.fromkeys(items))
