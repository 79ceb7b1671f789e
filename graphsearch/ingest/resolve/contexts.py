"""Which of several people a part of a name means, by the context of its memory.

A first name that two people have is not guessed: it is one of them only if its context leaves one. What counts as
context, the nearest first:

* the group that a sentence puts it in, if one of them is known to be in that group: "Anna of the Billing team";
* the same memory, if it names one of them;
* the same conversation, or the same source where there is none, if it names one of them: people are introduced by whole
  names, and called by parts of these from then on.

A nearer context goes before a wider one. Where it names two of them, the name stays open. That somebody is known
better, was mentioned last, or works with whom the memory is about, is no evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final
from uuid import UUID

import attrs

from graphsearch.ingest.resolve.resolution import Resolution, Stage
from graphsearch.model import Memory
from graphsearch.model.extracted import ExtractedMemory, ExtractedName
from graphsearch.protocols.reading import Reading

CONTEXT_SCORE: Final = 0.8
"""The score of a name that its context decides."""
MAX_MEMORIES: Final = 200
"""Maximum memories of a conversation, besides those of the call, in which people are looked for."""
MEMBERSHIP: Final = ("member_of", "works_at", "leads")
"""Relation types from a person to a group that the person is in."""

Found = Mapping[ExtractedName, Resolution]
Context = tuple[str, str]
"""The session of a memory, or its source if it has none."""


@attrs.frozen(eq=False)
class _Open:
    """A name of a memory that may mean several people, and those whom the nearest evidence leaves."""

    memory: Memory
    surface: ExtractedName
    people: frozenset[UUID]


async def settled(
    memories: Sequence[Memory], read: Sequence[ExtractedMemory], found: Found, store: Reading
) -> dict[str, Found]:
    """What the names of each memory mean, for those where a context decides what ``found`` leaves open, by their ids.

    A store is asked only if there are open names: for claims of membership if sentences state any of them, and for the
    memories of their conversations. The result does not depend on the order of the memories.
    """
    own = {memory.id: memory for memory in memories}
    several = [
        _Open(own[each.memory_id], surface, frozenset(person.id for person in found[surface].candidates))
        for each in read
        for surface in dict.fromkeys(each.surfaces)
        if len(found[surface].candidates) > 1
    ]
    if not several:
        return {}
    stated = {each.memory_id: each for each in read}
    several = await _by_groups(several, stated, found, store)
    several = [attrs.evolve(each, people=_named(each, stated[each.memory.id], found)) for each in several]
    several = await _by_conversations(several, own, stated, found, store)
    meant: defaultdict[str, dict[ExtractedName, Resolution]] = defaultdict(dict)
    for each in several:
        if len(each.people) == 1:
            meant[each.memory.id][each.surface] = _meaning(found[each.surface], each.people)
    return {id_: {**found, **names} for id_, names in meant.items()}


def _meaning(resolution: Resolution, people: frozenset[UUID]) -> Resolution:
    """The resolution of a name to the only one of its candidates who is left."""
    (person,) = (each for each in resolution.candidates if each.id in people)
    return attrs.evolve(
        resolution, entity=person, stage=Stage.CONTEXT, score=CONTEXT_SCORE, candidates=(), unseen=False
    )


# -- groups -----------------------------------------------------------------------------------------------------------


async def _by_groups(
    several: Sequence[_Open], stated: Mapping[str, ExtractedMemory], found: Found, store: Reading
) -> list[_Open]:
    """The open names, each with the people who are in the groups that a sentence puts it in, if any of them is."""
    groups = [frozenset(_groups(each.surface, stated[each.memory.id], found)) for each in several]
    if not any(groups):
        return [*several]
    wanted = {
        (person, type_, target)
        for each, joined in zip(several, groups, strict=True)
        for person in each.people
        for type_ in MEMBERSHIP
        for group in joined
        for target in (group, None)  # of a functional type, claims are folded without their target
    }
    members = {(claim.source_id, claim.target_id) for claim in await store.list_claims(groups=sorted(wanted, key=str))}
    members |= {
        (found[one.source].entity.id, found[one.target].entity.id)
        for each in stated.values()
        for one in each.statements
        if one.type in MEMBERSHIP
    }
    return [
        attrs.evolve(each, people=_those(each.people, {one for one, group in members if group in joined}))
        for each, joined in zip(several, groups, strict=True)
    ]


def _groups(surface: ExtractedName, stated: ExtractedMemory, found: Found) -> Iterator[UUID]:
    for each in stated.statements:
        if each.source == surface and each.type in MEMBERSHIP:
            yield found[each.target].entity.id


def _those(people: frozenset[UUID], evidence: Iterable[UUID]) -> frozenset[UUID]:
    """The people for whom there is evidence; all of them if there is none for anybody."""
    return people.intersection(evidence) or people


# -- memories and conversations ---------------------------------------------------------------------------------------


def _named(each: _Open, stated: ExtractedMemory, found: Found) -> frozenset[UUID]:
    """The people whom the memory of an open name names otherwise, without those whom a sentence relates to it."""
    related = {
        found[other].entity.id
        for one in stated.statements
        if one.type != "co_occurs"
        for name, other in ((one.source, one.target), (one.target, one.source))
        if name == each.surface
    }
    return _those(each.people, {found[name].entity.id for name in stated.surfaces} - related)


async def _by_conversations(
    several: Sequence[_Open],
    own: Mapping[str, Memory],
    stated: Mapping[str, ExtractedMemory],
    found: Found,
    store: Reading,
) -> list[_Open]:
    """The open names, each with the people whom its conversation names, if it names any."""
    contexts = dict.fromkeys(context_of(each.memory) for each in several if len(each.people) > 1)
    people: defaultdict[Context, set[UUID]] = defaultdict(set)
    for context in filter(any, contexts):
        people[context] = await _mentioned(context, own, store)
    for id_, memory in own.items():
        if (context := context_of(memory)) in people and id_ in stated:
            people[context].update(found[name].entity.id for name in stated[id_].surfaces)
    for each in several:
        if len(each.people) == 1 and (context := context_of(each.memory)) in people:
            people[context] |= each.people
    return [attrs.evolve(each, people=_those(each.people, people.get(context_of(each.memory), ()))) for each in several]


def context_of(memory: Memory) -> Context:
    """The conversation of a memory: its session, or its source if it has none; both empty if it has neither."""
    return (memory.session_id, "") if memory.session_id else ("", memory.source)


async def conversation(context: Context, store: Reading) -> Sequence[Memory]:
    """The first stored memories of a conversation."""
    session, source = context
    return await store.list_memories(limit=MAX_MEMORIES, session_id=session or None, source=source or None)


async def _mentioned(context: Context, own: Mapping[str, Memory], store: Reading) -> set[UUID]:
    """The entities that stored memories of a conversation mention, without those that are read again."""
    ids = [memory.id for memory in await conversation(context, store) if memory.id not in own]
    return {mention.entity_id for mention in await store.list_mentions(memory_ids=ids)} if ids else set()
