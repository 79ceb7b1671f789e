"""Names that forgotten memories had settled are open again, as if these memories had never been there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import UUID

from graphsearch.ingest.resolve.contexts import context_of, conversation
from graphsearch.ingest.resolve.name_stages import PERSON, open_ids
from graphsearch.ingest.resolve.namesakes import has_whole_name
from graphsearch.ingest.write.distinguishing import Distinguished
from graphsearch.ingest.write.settling import SETTLES, moved, settle_earlier
from graphsearch.ingest.write.writer import Writer
from graphsearch.model import Batch, Entity, Mention
from graphsearch.names.typed_names import read
from graphsearch.protocols import GraphStore


async def settled_by(mentions: Sequence[Mention], store: GraphStore) -> Mapping[str, set[UUID]]:
    """The memories with names that the memories of some mentions have settled, and the people that are meant since."""
    people: defaultdict[str, set[UUID]] = defaultdict(set)
    for each in mentions:
        people[each.memory_id].add(each.entity_id)
    found: defaultdict[str, set[UUID]] = defaultdict(set)
    for link in await store.memory_links(sorted(people)) if people else ():
        if link.type == SETTLES and link.from_id in people and link.to_id not in people:
            found[link.to_id] |= people[link.from_id]
    return found


async def reopen(settled: Mapping[str, set[UUID]], writer: Writer) -> None:
    """Open names again that were settled by memories which are gone, unless the rest of a conversation settles them.

    A memory that may not be written, or that names the person in full meanwhile, stays as it is; so does a name that
    somebody merged into a person.
    """
    memories = await writer.store.get_memories(sorted(settled)) if settled else ()
    for memory in await writer.permission.writable(memories):
        mentions = await writer.store.list_mentions(memory_ids=[memory.id])
        opened = await _opened(mentions, settled[memory.id], writer.store)
        if opened:
            claims = await writer.store.list_claims(memory_ids=[memory.id])
            again = moved(mentions, claims, {person: part.id for person, part in opened.items()})
            named = tuple(opened.values())
            await writer.rewrite(Batch(named=named, memories=(memory,), mentions=again[0], claims=again[1]))
    for context in {context_of(each) for each in memories}:
        left = await conversation(context, writer.store)
        there = await writer.store.list_mentions(memory_ids=[each.id for each in left])
        await settle_earlier(left, there, Distinguished(), writer)


async def _opened(mentions: Sequence[Mention], people: set[UUID], store: GraphStore) -> Mapping[UUID, Entity]:
    """The entities of names alone that people whom a memory names by a part of their names only become again."""
    names: dict[UUID, set[str]] = {}
    for each in mentions:
        if each.entity_id in people:
            form = read(each.surface, PERSON)
            names.setdefault(each.entity_id, set()).add(form.shown if form.partial else "")
    found = {}
    for person, (name, *others) in names.items():
        if name and not others and (entity := await _entity_of(name, store)):
            found[person] = entity
    return found


async def _entity_of(name: str, store: GraphStore) -> Entity | None:
    """The entity of a part of a name, as a memory that has it makes it; None if it was merged into a person."""
    ids = open_ids(name, await store.id_key())
    known = {each.id: each for each in await store.get_entities(ids)}
    if any(each.merged_into for each in known.values()):
        return None
    _, minted, _, apart = ids
    there = [key for key in ids if key in known and not has_whole_name(known[key])]
    return Entity(id=next(iter(there), apart if minted in known else minted), type=PERSON, name=name)
