"""Distinguish people of one first name, or join them again, whenever a memory adds to what is stored about them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeVar
from uuid import UUID

import attrs

from graphsearch.ingest.resolve.contexts import MEMBERSHIP
from graphsearch.ingest.resolve.name_stages import PERSON
from graphsearch.ingest.resolve.namesakes import Namesakes, Proofs, is_bare, is_called
from graphsearch.ingest.resolve.qualifiers import is_change
from graphsearch.ingest.write.writer import Writer
from graphsearch.model import Batch, Claim, Entity, Group, Memory, Mention
from graphsearch.names.typed_names import read
from graphsearch.protocols import GraphStore

MEMBER: Final = "member_of"
ORGANISATION: Final = "organisation"
MOST: Final = 1_000
"""Maximum groups of one person that are read."""

Proof = TypeVar("Proof", Mention, Claim)


@attrs.define(eq=False)
class Distinguished:
    """What distinguishing people has changed, and the evidence that it gives to conversations.

    ``evidence`` are the mentions of people who are distinguished, in the ``memories`` that changed or were just
    written, with their names as surfaces; ``open`` are the entities of first names that nothing qualifies.
    """

    memories: list[Memory] = attrs.field(factory=list)
    evidence: list[Mention] = attrs.field(factory=list)
    open: list[UUID] = attrs.field(factory=list)


async def distinguish_people(mentions: Sequence[Mention], claims: Sequence[Claim], writer: Writer) -> Distinguished:
    """Decide again whom first names mean, after memories with these mentions and claims were written.

    They may also be what memories proved before they were changed or forgotten. A memory that may not be written stays
    as it is. A store is asked only if somebody is stated to be in a group, or to change one.
    """
    found = Distinguished()
    written = {each.memory_id for each in mentions}
    named = await _named(sorted(_first_names(mentions, claims)), writer.store)
    for first, known in named.items():
        namesakes = await _namesakes(first, known, writer.store)
        if namesakes is not None:
            changed = await _rewrite(namesakes, writer)
            here = written.union(memory.id for memory in changed)
            found.memories += changed
            found.evidence += [each for each in namesakes.evidence() if each.memory_id in here]
            found.open.append(namesakes.open.id)
    return found


def _first_names(mentions: Sequence[Mention], claims: Sequence[Claim]) -> set[str]:
    """The first names, in lower case, of those about whose groups claims state something."""
    groups = {(each.memory_id, each.entity_id) for each in mentions if each.type == ORGANISATION}
    stated = {(claim.memory_id, claim.source_id) for claim in claims if claim.type == MEMBER}
    for claim in claims:
        ends = {(claim.memory_id, claim.source_id), (claim.memory_id, claim.target_id)}
        if not groups.isdisjoint(ends) and is_change(claim):
            stated |= ends - groups
    people = (each for each in mentions if (each.memory_id, each.entity_id) in stated and each.type in ("", PERSON))
    return {read(each.surface, PERSON).words[0] for each in people}


async def _named(names: Sequence[str], store: GraphStore) -> Mapping[str, Sequence[Entity]]:
    """Of each first name the entities that have it as a word of a name."""
    matches = await store.find_name_words(names) if names else ()
    ids = list(dict.fromkeys(each.entity_id for each in matches))
    known = {each.id: each for each in await store.get_entities(ids)} if ids else {}
    named: dict[str, list[Entity]] = {first: [] for first in names}
    for each in matches:
        named[each.name].append(known[each.entity_id])
    return named


async def _namesakes(first: str, known: Sequence[Entity], store: GraphStore) -> Namesakes | None:
    """Everybody of a first name; None if no groups distinguish them or have done so.

    ``known`` has all entities with the name. Where everybody goes by a whole name, nothing else is read.
    """
    people = {each.id: each for each in known if each.merged_into is None and is_called(each, first)}
    if not any(is_bare(name, first) for each in people.values() for name in (each.name, *each.aliases)):
        return None
    merged = {each.id: each.merged_into for each in known if each.merged_into is not None}
    stated = [each for id_ in people for each in await store.list_relations(type=MEMBER, entity_id=id_, limit=MOST)]
    targets = sorted({each.target_id for each in stated if each.source_id in people})
    groups = {each.id: each for each in await store.get_entities(targets)}
    members = {(person, type_, end) for person in people for type_ in MEMBERSHIP for end in (*groups, None)}
    found = Namesakes(first, people, groups, merged, await _proofs(members, (), store), await store.id_key())
    if not found.meant and not found.called_by_group:
        return None
    together = {
        triple
        for person in people
        for group in found.meant
        for triple in ((person, "co_occurs", group), (group, "co_occurs", person))
    }
    return attrs.evolve(found, proofs=await _proofs(members | together, found.called_by_group, store))


async def _proofs(groups: Iterable[Group], people: Iterable[UUID], store: GraphStore) -> Proofs:
    """The memories with claims in some groups, and those that mention some people."""
    claims = await store.list_claims(groups=sorted(groups, key=str))
    mentions = await store.list_mentions(entity_ids=sorted(people)) if people else ()
    ids = sorted({each.memory_id for each in claims} | {each.memory_id for each in mentions})
    if not ids:
        return Proofs((), {}, {})
    return Proofs(
        await store.get_memories(ids),
        _by_memory(await store.list_mentions(memory_ids=ids)),
        _by_memory(await store.list_claims(memory_ids=ids)),
    )


def _by_memory(proofs: Iterable[Proof]) -> Mapping[str, Sequence[Proof]]:
    found: defaultdict[str, list[Proof]] = defaultdict(list)
    for each in proofs:
        found[each.memory_id].append(each)
    return found


async def _rewrite(namesakes: Namesakes, writer: Writer) -> Sequence[Memory]:
    """Write the memories again whose mentions move; returns those that could be written."""
    moved = namesakes.moved
    chosen = await writer.permission.writable([each for each in namesakes.proofs.memories if moved[each.id]])
    if not chosen:
        return ()
    mentions: list[Mention] = []
    claims: list[Claim] = []
    for memory in chosen:
        people = moved[memory.id]
        mentions += [
            attrs.evolve(each, entity_id=people[each].id) if each in people else each
            for each in namesakes.proofs.mentions[memory.id]
        ]
        claims += [namesakes.claim(each, people) for each in namesakes.proofs.claims.get(memory.id, ())]
    named = {each.id: each for memory in chosen for each in moved[memory.id].values()}
    batch = Batch(
        named=tuple(named.values()),
        memories=tuple(chosen),
        mentions=tuple(mentions),
        claims=tuple(each for each in claims if each.source_id != each.target_id),
    )
    return chosen if await writer.rewrite(batch) else ()
