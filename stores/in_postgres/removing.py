"""Forgetting memories and deleting elements in Postgres, with all that hangs on them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any
from uuid import UUID

import attrs

from graphsearch.errors import UnknownScopeError
from graphsearch.model import ElementKind, Scope, WriteReport
from graphsearch.stores.in_postgres import facts
from graphsearch.stores.in_postgres.folds import Group, put_relations, refold, sign_beside, stored_types
from graphsearch.stores.in_postgres.forgetting import forget_references, unlink, untie
from graphsearch.stores.in_postgres.indexing import drop_documents, drop_vectors
from graphsearch.stores.in_postgres.naming import call_again
from graphsearch.stores.in_postgres.reading import storable
from graphsearch.stores.in_postgres.restating import surfaces_in
from graphsearch.stores.in_postgres.separating import drop_merges, separated, unsaid_entities
from graphsearch.stores.in_postgres.sessions import Gateway, Session
from graphsearch.stores.in_postgres.signing import Stored, drop_signatures, stored_relations
from graphsearch.stores.in_postgres.statements import statement


async def forget(session: Session, memory_ids: Iterable[str], now: datetime) -> WriteReport:
    """Without these memories, and without what only they proved."""
    found = await session.run(statement("existing", ElementKind.MEMORY), ids=storable(memory_ids))
    ids = sorted(key for (key,) in await found.fetchall())
    if not ids:
        return WriteReport()
    types = await stored_types(session)
    proved = await stored_relations(session, "relations proved", memory_ids=ids)
    links = await unlink(session, ids)
    unsaid = await surfaces_in(session, ids)
    said = await _rows(session, "delete claims of memories", memory_ids=ids)
    groups: set[Group] = {(source, name) for source, name, *_ in said}
    mentioned = await _rows(session, "delete mentions", memory_ids=ids, entity_ids=[])
    await _drop(session, ElementKind.MEMORY, ids)
    changed, lost = await refold(session, groups, types, now)
    left = await stored_relations(session, "relations proved", memory_ids=ids)
    unproved, kept = _unproved([left[key] for key in proved if key in left and key not in lost], ids)
    await put_relations(session, kept, types, now, folded=False)
    gone = [*lost, *unproved]
    ends = await drop_relations(session, gone)
    touched = ends.union(*mentioned)
    touched |= {end for source, _, *others in said for end in (source, *others) if end is not None}
    unnamed, left_by = await unsaid_entities(session, touched)
    touched = touched.difference(unnamed)
    lonely = [*unnamed, *(key for (key,) in await _rows(session, "lonely entities", ids=list(touched)))]
    links += await _drop_entities(session, lonely)
    reworded = await call_again(session, (unsaid.keys() | left_by).difference(lonely), unsaid=unsaid)
    await sign_beside(session, reworded, types, now)
    removed = {ElementKind.MEMORY: ids, ElementKind.RELATION: gone, ElementKind.ENTITY: lonely}
    return WriteReport(
        memories=len(ids),
        relations=changed,
        relations_retracted=len(gone),
        entities_removed=len(lonely),
        mentions_removed=len(mentioned),
        claims_removed=len(said),
        links_removed=links,
        references_removed=await forget_references(session, removed),
        reworded=reworded,
    )


async def delete(session: Session, entities: Sequence[UUID], relations: Sequence[UUID], now: datetime) -> WriteReport:
    """Without these entities and relations, and all that hangs on them."""
    found = await session.run(statement("existing", ElementKind.ENTITY), ids=list(entities))
    gone, left_by = await separated(session, sorted(key for (key,) in await found.fetchall()))
    values = {"relation_ids": list(relations), "entity_ids": gone}
    dropped = set(await stored_relations(session, "relations touching", **values))
    said = await _rows(session, "delete claims of relations", relation_ids=list(dropped))
    said += await _rows(session, "delete claims of entities", entity_ids=gone)
    mentioned = await _rows(session, "delete mentions", memory_ids=[], entity_ids=gone)
    types = await stored_types(session)
    changed, lost = await refold(session, set(said), types, now)
    dropped |= set(lost)
    await drop_relations(session, dropped)
    marks = await _drop_entities(session, gone)
    await drop_merges(session, gone)
    reworded = await call_again(session, left_by)
    await sign_beside(session, reworded, types, now)
    return WriteReport(
        relations=changed,
        relations_retracted=len(dropped),
        entities_removed=len(gone),
        mentions_removed=len(mentioned),
        claims_removed=len(said),
        links_removed=marks,
        reworded=reworded,
    )


async def remove_scope(gateway: Gateway, scope: Scope) -> None:
    """Without this scope, in any table that there is; where there is none, nothing happens."""
    with suppress(UnknownScopeError):
        async with gateway.writing(scope) as session:
            for (table,) in await _rows(session, "scoped tables"):
                await session.run(statement("remove scope", table=table))
            session.signatures.contents.clear()  # they may quote what is gone


async def drop_relations(session: Session, ids: Collection[UUID]) -> set[UUID]:
    """Remove relations; the entities that they joined."""
    if not ids:
        return set()
    going = await stored_relations(session, "relations touching", relation_ids=list(ids), entity_ids=[])
    await session.run(statement("delete evidence"), ids=list(ids))
    await facts.struck(session, ids)
    await _drop(session, ElementKind.RELATION, ids)
    return {end for each in going.values() for end in (each.relation.source_id, each.relation.target_id)}


def _unproved(relations: Iterable[Stored], forgotten: Collection[str]) -> tuple[list[UUID], list[Any]]:
    """Of relations that no claim gives: those that go with forgotten evidence, and the others without that evidence.

    A retracted one goes with any of its evidence, since it may quote it; a given one only with the last.
    """
    gone, kept = [], []
    for each in relations:
        left = set(each.relation.evidence).difference(forgotten)
        if each.relation.retracted_at is not None or not left:
            gone.append(each.relation.id)
        else:
            kept.append(attrs.evolve(each.relation, evidence=left))
    return gone, kept


async def _drop_entities(session: Session, ids: Collection[UUID]) -> int:
    """Remove entities with all that hangs on them; how many marks told them from others."""
    if not ids:
        return 0
    await session.run(statement("delete aliases"), ids=list(ids))
    await _drop(session, ElementKind.ENTITY, ids)
    return await untie(session, ids)


async def _drop(session: Session, kind: ElementKind, ids: Collection[Any]) -> None:
    """Remove elements with their documents, vectors and history."""
    ordered = sorted(ids)
    await drop_documents(session, kind, ordered)
    await drop_vectors(session, kind, ordered)
    await session.run(statement("delete outcomes"), kind=kind.value, ids=[str(key) for key in ordered])
    rows = await (await session.run(statement("delete elements", kind), ids=ordered)).fetchall()
    await drop_signatures(session, kind, {code for (code,) in rows})


async def _rows(session: Session, name: str, **values: Any) -> list[Any]:
    return await (await session.run(statement(name), **values)).fetchall()
