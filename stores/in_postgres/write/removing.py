"""Removing elements in Postgres, with everything that depends on them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import attrs

from graphsearch.model import ElementKind
from graphsearch.stores.in_postgres.index.indexing import delete_rows, drop_documents, drop_vectors, strike_facts
from graphsearch.stores.in_postgres.index.signing import Stored, drop_signatures, stored_relations
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.write.renaming import Surfaces, called_of, put_into, read_tree
from graphsearch.stores.in_postgres.write.summaries import drop_summaries


async def drop_relations(session: Session, ids: Collection[UUID]) -> set[UUID]:
    """Remove relations; return the entities that they joined."""
    if not ids:
        return set()
    going = await stored_relations(session, "relations touching", relation_ids=list(ids), entity_ids=[])
    ends = {end for each in going.values() for end in (each.relation.source_id, each.relation.target_id)}
    await drop_summaries(session, entities=ends)
    await delete_rows(session, ElementKind.RELATION, "evidence", ids, key="relation_id")
    await strike_facts(session, ids)
    await drop_elements(session, ElementKind.RELATION, ids)
    return ends


def unproved(relations: Iterable[Stored], forgotten: Collection[str]) -> tuple[list[UUID], list[Any]]:
    """Relations without claims: those to delete with forgotten evidence, and the others without that evidence.

    A retracted one goes with any of its evidence, since it may quote it; an asserted one only with the last.
    """
    gone, kept = [], []
    for each in relations:
        left = set(each.relation.evidence).difference(forgotten)
        if each.relation.retracted_at is not None or not left:
            gone.append(each.relation.id)
        else:
            kept.append(attrs.evolve(each.relation, evidence=left))
    return gone, kept


async def drop_entities(session: Session, ids: Collection[UUID]) -> int:
    """Remove entities with everything that depends on them; return the number of their marks as distinct."""
    if not ids:
        return 0
    await delete_rows(session, ElementKind.ENTITY, "entity_alias", ids, key="entity_id")
    await drop_elements(session, ElementKind.ENTITY, ids)
    await drop_summaries(session, entities=ids)
    left = await session.column(statement("leave communities"), ids=list(ids))
    if left:
        await drop_communities(session, await session.column(statement("too small"), ids=left))
    return (await session.run(statement("delete marks"), ids=list(ids))).count


async def drop_elements(session: Session, kind: ElementKind, ids: Collection[Any]) -> None:
    """Remove elements with their documents, vectors and history."""
    ordered = sorted(ids)
    await drop_documents(session, kind, ordered)
    await drop_vectors(session, kind, ordered)
    await session.run(statement("delete outcomes"), kind=kind.value, ids=[str(key) for key in ordered])
    await drop_signatures(session, kind, set(await session.column(statement("delete elements", kind), ids=ordered)))


async def forget_references(session: Session, gone: Mapping[ElementKind, Collection[Any]]) -> int:
    """Remove deleted elements from the log of injections; return the number of log entries removed.

    The id of a memory is a text like any other.
    """
    named = [(kind.value, str(key)) for kind, keys in gone.items() for key in keys]
    refs = [f"{kind} {key}" for kind, key in named]
    found = await session.rows(statement("naming injections"), gone=refs, ids=[key for _, key in named])
    times = {key: count for key, count in found if count}
    if times:
        await session.run(statement("forget references"), gone=refs, injections=list(times))
    return sum(times.values())


async def drop_communities(session: Session, ids: Collection[UUID] | None) -> None:
    """Remove communities; all of them where ``ids`` is None."""
    requested = None if ids is None else list(ids)
    await session.run(statement("drop members"), ids=requested)
    await session.run(statement("drop communities"), ids=requested)


@attrs.frozen
class Unmentioned:
    """Entities that nothing mentions any more: those ``gone``, and what is to change with them.

    ``relations`` are removed already. ``into`` is what each of those gone was merged into.
    """

    gone: list[UUID] = attrs.field(factory=list)
    relations: list[UUID] = attrs.field(factory=list)
    into: dict[UUID, UUID] = attrs.field(factory=dict)

    @property
    def left_by(self) -> set[UUID]:
        """The entities that those gone were merged into, without these."""
        return set(self.into.values()).difference(self.gone)

    def surfaces(self, lost: Surfaces) -> Surfaces:
        """Lost surfaces, also as those of what an entity was merged into: it may have given its name to that."""
        found = {key: set(surfaces) for key, surfaces in lost.items()}
        for key, above in self.into.items():  # in the order in which they went
            found.setdefault(above, set()).update(found.get(key, ()))
        return found


async def unmentioned_entities(session: Session, ids: Iterable[UUID]) -> Unmentioned:
    """Unmerge merged entities that nothing mentions any more.

    Retracted relations do not keep entities that only mentions named, and are removed.
    """
    found = Unmentioned()
    waiting = set(ids) if session.merges else set[UUID]()
    while waiting:
        now = sorted(await session.column(statement("unmentioned entities"), ids=list(waiting)))
        tree = await read_tree(session, now)
        found.into.update({key: tree.into[key] for key in now})
        found.gone.extend(now)
        waiting = {tree.into[key] for key in now}
        await drop_merges(session, now)
        found.relations.extend(await _drop_relations_of(session, now))
    return found


async def unnamed(session: Session, key: UUID) -> Unmentioned:
    """An entity that only mentions named, when none does any more, with those that this leaves so.

    It had the names of what was merged into it.
    """
    named = await _named(session, [key])
    found = await unmentioned_entities(session, named)
    return found if found.gone else Unmentioned(*await faded_entities(session, named))


async def faded_entities(session: Session, ids: Collection[UUID]) -> tuple[list[UUID], list[UUID]]:
    """Entities that only mentions named, when none does and they have nothing but retracted relations.

    Their names are forgotten words. The relations are removed, as the entities are to be, and what these joined in
    turn. Returns both.
    """
    gone, relations = list[UUID](), list[UUID]()
    waiting = set(ids)
    while waiting:
        now = await session.column(statement("faded entities"), ids=list(waiting), named=True, isolated=False)
        lapsed = await stored_relations(session, "relations touching", relation_ids=[], entity_ids=now) if now else {}
        gone += now
        relations += lapsed
        waiting = (await drop_relations(session, list(lapsed))).difference(gone)
    return sorted(gone), relations


async def prune(session: Session, ids: Collection[UUID]) -> list[UUID]:
    """Remove those of some entities that nothing names, with their retracted relations; return them (`Batch.prune`)."""
    if not ids:
        return []
    gone = await session.column(statement("faded entities"), ids=list(ids), named=False, isolated=False)
    await _drop_relations_of(session, gone)
    await drop_entities(session, gone)
    return gone


async def _drop_relations_of(session: Session, entity_ids: Collection[UUID]) -> list[UUID]:
    """Remove the relations of some entities, all of them retracted; return their ids."""
    if not entity_ids:
        return []
    values = {"relation_ids": [], "entity_ids": list(entity_ids)}
    lapsed = list(await stored_relations(session, "relations touching", **values))
    await drop_relations(session, lapsed)
    return lapsed


async def no_longer_mentioned(session: Session, ids: Collection[UUID]) -> Unmentioned:
    """Unmerge those merged entities, only named once, that nothing mentions any more; see `unmentioned_entities`."""
    return await unmentioned_entities(session, await _named(session, ids)) if session.merges and ids else Unmentioned()


async def _named(session: Session, ids: Collection[UUID]) -> list[UUID]:
    """The entities that exist through their mentions."""
    found = map(called_of, await session.dicts(statement("given names"), ids=list(ids)))
    return [each.entity.id for each in found if each.named]


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
    await session.run(statement("leave mentions"), id=key, target_id=above)
    for table in ("claim", "relation"):
        await session.run(statement("leave ends", table=table), id=key, target_id=above)
    await put_into(session, await session.column(statement("retarget merges"), id=key, target_id=above), above)
    await drop_merges(session, [key])
