"""Operations on merged entities: writing about them, and deleting them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar
from uuid import UUID

import attrs

from graphsearch.model import Batch, Claim, Entity, Mention, Relation
from graphsearch.stores.in_postgres.rows import claim_of, mention_of
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.write.renaming import Surfaces, copy_to_ends, read_tree
from graphsearch.stores.shared.merging import collapses, shown, stated

Proof = TypeVar("Proof", Mention, Claim)
Ends = Mapping[UUID, tuple[UUID, UUID] | tuple[None, None]]


@attrs.frozen
class Rewritten:
    """The mentions and claims of a batch as they are stored, and those that its memories had before."""

    mentions: Sequence[Mention]
    claims: Sequence[Claim]
    had_mentions: Mapping[str, set[Mention]]
    """Read only where there were merges."""
    had_claims: Mapping[str, set[Claim]]
    root: Callable[[UUID], UUID] | None = None
    """The entity that one was finally merged into; None if there were no merges."""

    def with_other_claims(self) -> set[str]:
        """The memories whose claims changed."""
        return _different(self.had_claims, _by_memory(self.claims))

    def with_other_mentions(self) -> set[str]:
        """The memories whose mentions changed."""
        return _different(self.had_mentions, _by_memory(self.mentions))

    def claims_of(self, memory_ids: Iterable[str]) -> set[Claim]:
        """The claims of memories, old and new, with the entities that theirs were merged into."""
        wanted = set(memory_ids)
        claims = {claim for claim in self.claims if claim.memory_id in wanted}
        claims = claims.union(*(self.had_claims.get(key, ()) for key in wanted))
        return {shown(claim, self.root) for claim in claims} if self.root else claims


def _different(one: Mapping[str, set[Proof]], other: Mapping[str, set[Proof]]) -> set[str]:
    return {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}


def _by_memory(proofs: Iterable[Proof]) -> dict[str, set[Proof]]:
    found: dict[str, set[Proof]] = {}
    for each in proofs:
        found.setdefault(each.memory_id, set()).add(each)
    return found


async def rewritten(session: Session, batch: Batch) -> Rewritten:
    """The mentions and claims of a batch to be stored (`graphsearch.stores.shared.merging.stated`)."""
    ids = [memory.id for memory in batch.memories]
    if not ids:
        return Rewritten(batch.mentions, batch.claims, {}, {})
    rows = await session.dicts(statement("original claims"), memory_ids=ids)
    claims = _by_memory(claim_of(row).claim for row in rows)
    if not session.merges:
        return Rewritten(batch.mentions, batch.claims, {}, claims)
    mentions = _by_memory(map(mention_of, await session.dicts(statement("original mentions"), memory_ids=ids)))
    had: set[Mention | Claim] = set[Mention | Claim]().union(*mentions.values(), *claims.values())
    named = {each.entity_id for each in batch.mentions}
    for each in (*batch.claims, *(claim for of_memory in claims.values() for claim in of_memory)):
        named |= {each.source_id, each.target_id}
    named |= {each.entity_id for of_memory in mentions.values() for each in of_memory}
    tree = await read_tree(session, named)
    return Rewritten(
        stated(batch.mentions, had, tree.root), stated(batch.claims, had, tree.root), mentions, claims, tree.root
    )


async def mark_proof(session: Session, proof: Rewritten) -> None:
    """Record the number of merges with memories whose mentions or claims changed."""
    if session.merges and (ids := proof.with_other_claims() | proof.with_other_mentions()):
        await session.run(statement("mark proof"), ids=sorted(ids), merges=session.merges)


async def surfaces_in(session: Session, memory_ids: Sequence[str]) -> Surfaces:
    """The surface forms in memories, by the entity that they were written for."""
    found: dict[UUID, set[str]] = {}
    rows = await session.run(statement("surfaces in memories"), memory_ids=list(memory_ids))
    for key, surface in await rows.fetchall():
        found.setdefault(key, set()).add(surface)
    return found


async def keep_merged(session: Session, entities: Sequence[Entity]) -> Sequence[Entity]:
    """Written entities, still merged into their targets."""
    tree = await read_tree(session, [each.id for each in entities])
    if not tree.into:
        return entities
    return [attrs.evolve(each, merged_into=tree.into.get(each.id, each.merged_into)) for each in entities]


async def ends_meant(session: Session, relations: Sequence[Relation], now: datetime) -> tuple[Sequence[Relation], Ends]:
    """Asserted relations, between the entities that their ends were merged into, and the original ends to record.

    A relation that moved with a merge, and is asserted again unchanged, moves back when the merge is undone; so does
    one that would lead from an entity to itself.
    """
    if not session.merges or not relations:
        return relations, {}
    tree = await read_tree(session, {end for each in relations for end in (each.source_id, each.target_id)})
    found = await session.run(statement("original ends"), ids=[each.id for each in relations])
    kept = {key: (source, target) for key, source, target in await found.fetchall()}
    meant, ends = [], dict[UUID, tuple[UUID, UUID] | tuple[None, None]]()
    for each in relations:
        loop = collapses(each, tree.root)
        meant.append(attrs.evolve(shown(each, tree.root), retracted_at=each.retracted_at or (now if loop else None)))
        own = (each.source_id, each.target_id)
        ends[each.id] = own if loop or kept.get(each.id) == own else (None, None)
    return meant, ends


async def keep_original_ends(session: Session, ends: Ends) -> None:
    """Store the original ends of asserted relations."""
    if ends:
        original = {key: pair for key, pair in ends.items() if pair[0] is not None}
        sources, targets = [source for source, _ in original.values()], [target for _, target in original.values()]
        await session.run(
            statement("keep original ends"), ids=list(ends), original=list(original), sources=sources, targets=targets
        )


async def put_into(session: Session, ids: Sequence[UUID], target_id: UUID | None) -> None:
    """Record that entities were merged into another, or are merged no longer."""
    await session.run(statement("merge into"), ids=list(ids), target_id=target_id)
    await copy_to_ends(session, ids)


async def unmentioned_entities(session: Session, ids: Iterable[UUID]) -> tuple[list[UUID], set[UUID]]:
    """Unmerge merged entities, only named once, that nothing mentions any more.

    Returns these, and the entities that they were merged into.
    """
    gone: list[UUID] = []
    left = set[UUID]()
    waiting = set(ids) if session.merges else set[UUID]()
    while waiting:
        found = await (await session.run(statement("unmentioned entities"), ids=list(waiting))).fetchall()
        now = [key for (key,) in found]
        tree = await read_tree(session, now)
        waiting = {tree.into[key] for key in now}
        left |= waiting
        gone += now
        await drop_merges(session, now)
    return sorted(gone), left - set(gone)


async def drop_merges(session: Session, ids: Collection[UUID]) -> None:
    """Remove the records of all merges of some entities."""
    if ids and session.merges:
        await session.run(statement("drop merges"), ids=list(ids))


async def separated(session: Session, ids: Sequence[UUID]) -> tuple[list[UUID], set[UUID]]:
    """The entities to delete together with some entities: everything merged into them.

    An entity merged into one that stays leaves it all its mentions and claims. Returns the deleted entities, and the
    entities that stay and lose a name.
    """
    if not session.merges:
        return list(ids), set()
    going, left = set(ids), set[UUID]()
    for key in sorted(ids):
        tree = await read_tree(session, [key])
        if key in tree.into and tree.root(key) not in going:
            await _give_up(session, key, tree.into[key])
            left.add(tree.into[key])
    tree = await read_tree(session, ids)
    gone = {each for key in ids for each in tree.below(key)}
    return sorted(gone), left - gone


async def _give_up(session: Session, key: UUID, above: UUID) -> None:
    """Transfer all mentions, claims and relations of a merged entity to its target, permanently."""
    for step in ("leave mentions", "leave claims", "leave relations"):
        await session.run(statement(step), id=key, target_id=above)
    children = await (await session.run(statement("retarget merges"), id=key, target_id=above)).fetchall()
    await put_into(session, [child for (child,) in children], above)
    await drop_merges(session, [key])
