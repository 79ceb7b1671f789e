"""Open names of earlier memories, settled when their conversation names in full one of the people they may mean.

"I met Anna" is open where two Annas are known; "Anna Voss had news", later in the same conversation, settles it, if the
conversation names no other Anna. The earlier memory is written again with its mentions and claims moved to Anna Voss,
and the memory that settled it is linked to it, with the type `SETTLES`, so that it can be traced.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

import attrs

from graphsearch.ingest.resolve.contexts import Context, context_of, conversation
from graphsearch.ingest.resolve.name_stages import PERSON, open_ids
from graphsearch.ingest.resolve.namesakes import has_whole_name
from graphsearch.ingest.write.distinguishing import Distinguished
from graphsearch.ingest.write.writer import Writer
from graphsearch.model import Batch, Claim, Entity, Memory, MemoryLink, Mention
from graphsearch.names.forms import Form
from graphsearch.names.typed_names import read

SETTLES: Final = "settles"
"""The type of the link from a memory that settles an open name to the memory that has it."""
MAX_WORDS: Final = 4
"""Maximum words of a whole name."""


async def settle_earlier(
    memories: Sequence[Memory], mentions: Sequence[Mention], distinguished: Distinguished, writer: Writer
) -> int:
    """Settle open names of stored memories in the conversations of new ones; return how many memories were changed.

    ``mentions`` are those of the new memories; people who were ``distinguished`` are named as by a whole name. A memory
    that may not be written, that names the person besides the open name, or whose open name is marked as distinct from
    the person, stays as it is. A store is asked for the open names that the new whole names may settle, in one call,
    and only if there are any for at most `MAX_MEMORIES` of a conversation. Takes time linear in the new mentions.
    """
    contexts = {memory.id: context_of(memory) for memory in (*memories, *distinguished.memories)}
    whole = (*(each for each in mentions if _is_whole(each)), *distinguished.evidence)
    named = [each for each in whole if any(contexts.get(each.memory_id, ()))]
    parts = {word for each in named for word in _ends(read(each.surface, PERSON))}
    key = await writer.store.id_key() if parts else UUID(int=0)
    ids = {*distinguished.open, *(id_ for word in parts for id_ in open_ids(word, key))}
    found = await writer.store.get_entities(sorted(ids)) if ids else ()
    opened = {each.id: each for each in found if each.merged_into is None and _is_part(each)}
    changed = 0
    for context, evidence in _by_context(named, contexts, opened).items():
        changed += await _settle(context, evidence, opened, writer)
    return changed


def _is_whole(mention: Mention) -> bool:
    """Whether a mention may have a whole name of a person; whether it is one, the entity shows later."""
    form = read(mention.surface, PERSON)
    return mention.type in ("", PERSON) and not form.partial and len(form.words) <= MAX_WORDS


def _is_part(entity: Entity) -> bool:
    return entity.type == PERSON and not has_whole_name(entity)


def _ends(name: Form) -> set[str]:
    """The parts by which a person of a whole name may be called: its first word and its last."""
    return {name.words[0], name.words[-1]}


def _by_context(
    named: Iterable[Mention], contexts: Mapping[str, Context], opened: Mapping[UUID, Entity]
) -> Mapping[Context, Sequence[Mention]]:
    """The mentions of whole names of which an open name is a part, by conversation."""
    parts = {read(each.name, PERSON).words[0] for each in opened.values()}
    found: defaultdict[Context, list[Mention]] = defaultdict(list)
    for each in named:
        if not parts.isdisjoint(_ends(read(each.surface, PERSON))):
            found[contexts[each.memory_id]].append(each)
    return found


async def _settle(context: Context, evidence: Sequence[Mention], opened: Mapping[UUID, Entity], writer: Writer) -> int:
    store = writer.store
    page = await conversation(context, store)
    mentions = await store.list_mentions(memory_ids=[memory.id for memory in page])
    here = {each.entity_id for each in mentions}
    if opened.keys().isdisjoint(here):
        return 0
    people = [each for each in await store.get_entities(sorted(here)) if each.type == PERSON and not _is_part(each)]
    meant: dict[UUID, UUID] = {}
    for id_ in sorted(opened.keys() & here):
        fitting = [each.id for each in people if _fits(read(opened[id_].name, PERSON), each)]
        if len(fitting) == 1 and tuple(sorted((id_, *fitting))) not in await store.distinct_pairs([id_]):
            meant[id_] = fitting[0]
    beside: defaultdict[str, set[UUID]] = defaultdict(set)
    for each in mentions:
        beside[each.memory_id].add(each.entity_id)
    moving = {id_: person for id_, person in meant.items() if any(each.entity_id == person for each in evidence)}
    chosen = [
        memory
        for memory in page
        if any(id_ in beside[memory.id] and person not in beside[memory.id] for id_, person in moving.items())
    ]
    return await _rewrite(await writer.permission.writable(chosen), moving, evidence, writer)


def _fits(part: Form, person: Entity) -> bool:
    names = (read(name, PERSON) for name in (person.name, *person.aliases))
    return any(part.fits(name) for name in names if not name.partial)


def moved(
    mentions: Iterable[Mention], claims: Iterable[Claim], to: Mapping[UUID, UUID]
) -> tuple[tuple[Mention, ...], tuple[Claim, ...]]:
    """Mentions and claims with the entities that others have become, but for claims of one about itself."""
    ends = ((each, to.get(each.source_id, each.source_id), to.get(each.target_id, each.target_id)) for each in claims)
    return (
        tuple(attrs.evolve(each, entity_id=to.get(each.entity_id, each.entity_id)) for each in mentions),
        tuple(attrs.evolve(each, source_id=one, target_id=other) for each, one, other in ends if one != other),
    )


async def _rewrite(
    memories: Sequence[Memory], moving: Mapping[UUID, UUID], evidence: Sequence[Mention], writer: Writer
) -> int:
    """Write memories again with mentions and claims of open names moved, and link what settled them."""
    if not memories:
        return 0
    ids = [memory.id for memory in memories]
    stored = await writer.store.list_mentions(memory_ids=ids), await writer.store.list_claims(memory_ids=ids)
    mentions, claims = moved(*stored, moving)
    batch = Batch(memories=tuple(memories), mentions=mentions, claims=claims)
    if not await writer.rewrite(batch):
        return 0
    people = {each.memory_id: each.entity_id for each in mentions if each.entity_id in moving.values()}
    links = [
        MemoryLink(from_id=each.memory_id, to_id=id_, type=SETTLES)
        for id_, person in people.items()
        for each in evidence
        if each.entity_id == person and each.memory_id != id_
    ]
    await writer.store.link_memories(links)
    return len(memories)
