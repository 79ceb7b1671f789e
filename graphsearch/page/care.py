"""What is shown before something is forgotten: memories to choose from, and what would go with one."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import PurePath
from typing import Final
from uuid import UUID

import attrs

from graphsearch._support.paging import pages
from graphsearch.access.gate import Gate
from graphsearch.access.reader import Reader, reading
from graphsearch.claims.folding import group_of
from graphsearch.curation import Curator
from graphsearch.curation.browsing import newest_first
from graphsearch.display.printing import cut
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import UnknownElementError
from graphsearch.model import Claim, Entity, Memory
from graphsearch.page.rows import LONGEST, Named, named
from graphsearch.stores.graph import GraphStore

_LOOKED_AT: Final = 5_000
"""The most visible memories among which the newest are looked for, the first by id."""
_LISTED: Final = 100
_NEAR: Final = 3
"""Sources that are named where one is not known."""


@attrs.frozen(kw_only=True)
class Lost:
    """A fact that no other memory states."""

    source: Named
    type: str
    target: Named
    fact: str


@attrs.frozen(kw_only=True)
class Loss:
    """What would go with a memory, as far as it may be seen: what rests on other memories stays.

    ``counts`` has numbers by kind, and ``entities`` and ``facts`` at most 100 each.
    """

    memory: Memory
    counts: Mapping[str, int]
    entities: tuple[Named, ...]
    facts: tuple[Lost, ...]


async def list_memories(
    engine: GraphSearchEngine, *, query: str = "", limit: int = 20, gate: Gate | None = None
) -> tuple[Memory, ...]:
    """List the memories that answer a question best, or else the newest; of a long text the beginning."""
    found: list[Memory] = []
    if query.strip():
        recalled = await engine.recall(query, limit=limit, gate=gate)
        found = [each.memory for each in recalled.memories]
    else:
        async with reading(engine.store, gate=gate) as reader:
            async for page in pages(engine.store.list_memories):
                found += await reader.get_memories([each.id for each in page])
                if len(found) >= _LOOKED_AT:
                    break
        found = newest_first(found)[:limit]
    return tuple(attrs.evolve(each, text=cut(each.text, LONGEST)) for each in found)


async def find_source(engine: GraphSearchEngine, path: str, *, gate: Gate | None = None) -> str:
    """Find the one visible source that a path means: one ends with the other, as "notes/a.md" does with "a.md".

    Reads all visible memories, unless the path is a source. Raises `UnknownElementError` with the nearest three if
    there is none, or several.
    """
    sources: set[str] = set()
    async with reading(engine.store, gate=gate) as reader:
        for filters in ({"source": path}, {}):
            async for page in pages(engine.store.list_memories, **filters):
                sources.update(each.source for each in await reader.get_memories([each.id for each in page]))
                if path in sources:
                    return path
    written, named = PurePath(path).parts, {each: PurePath(each).parts for each in sorted(sources - {""})}
    meant = [each for each, own in named.items() if written[-len(own) :] == own or own[-len(written) :] == written]
    if len(meant) == 1:
        return meant[0]
    near = ", ".join(map(repr, meant[:_NEAR] or get_close_matches(path, named, _NEAR, 0.0)))
    raise UnknownElementError(
        f"there is {'more than one' if meant else 'no'} source {path!r}" + (f"; the nearest: {near}" if near else "")
    )


async def preview_forget(engine: GraphSearchEngine, *, memory: str, gate: Gate | None = None) -> Loss:
    """Show what would go with a memory: the entities and facts that rest on it alone; forget nothing.

    The principal must be allowed to forget it.
    """
    await Curator(engine, gate=gate).forget(memory, dry_run=True)
    async with reading(engine.store, gate=gate) as reader:
        found = await reader.get_memories([memory])
        if not found:
            raise UnknownElementError(f"no memory {memory!r} in {reader.scope}")
        mentions, claims = await reader.mentions(memory_ids=[memory]), await reader.claims(memory_ids=[memory])
        seen = {each.id for each in await reader.get_entities(sorted({each.entity_id for each in mentions}))}
        entities = await _only_named(memory, seen, engine.store, reader)
        stated = await _only_stated(memory, claims, engine.store, reader)
        ends = {end for each in stated for end in (each.source_id, each.target_id)}
        known = {each.id: each for each in await reader.get_entities(sorted(ends))}
    facts = [
        Lost(source=named(known[each.source_id]), type=each.type, target=named(known[each.target_id]), fact=each.fact)
        for each in stated
        if {each.source_id, each.target_id} <= known.keys()
    ]
    named_here = sum(each.entity_id in seen for each in mentions)
    counts = {"entities": len(entities), "facts": len(facts), "mentions": named_here, "claims": len(claims)}
    return Loss(
        memory=attrs.evolve(found[0], text=cut(found[0].text, LONGEST)),
        counts=counts,
        entities=tuple(map(named, entities[:_LISTED])),
        facts=tuple(facts[:_LISTED]),
    )


async def _only_named(memory: str, ids: set[UUID], store: GraphStore, reader: Reader) -> list[Entity]:
    """The entities that exist through mentions, all of them in one memory."""
    others = {each.entity_id for each in await reader.mentions(entity_ids=sorted(ids)) if each.memory_id != memory}
    asserted = await store.asserted(sorted(ids - others))
    return await reader.get_entities([each.entity.id for each in asserted if each.named])


async def _only_stated(memory: str, claims: list[Claim], store: GraphStore, reader: Reader) -> list[Claim]:
    """The first of the claims of each fact that one memory alone states."""
    types = await store.relation_types()
    own = {(each.source_id, each.type, each.target_id): each for each in reversed(claims)}
    found = await reader.claims(groups={group_of(each, types) for each in claims})
    others = {(each.source_id, each.type, each.target_id) for each in found if each.memory_id != memory}
    return [own[edge] for edge in reversed(own) if edge not in others]
