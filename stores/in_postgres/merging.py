"""Making one entity of two, and two again, in Postgres."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import attrs

from graphsearch.model import ElementKind, Relation
from graphsearch.records import Merge, UndoReport
from graphsearch.stores.in_postgres.folds import (
    Group,
    keys_of,
    put_relations,
    refold,
    retract,
    sign_beside,
    types_at_start,
)
from graphsearch.stores.in_postgres.naming import call_again, read_tree
from graphsearch.stores.in_postgres.reading import get
from graphsearch.stores.in_postgres.removing import drop_relations
from graphsearch.stores.in_postgres.restating import say_ends
from graphsearch.stores.in_postgres.separating import put_into
from graphsearch.stores.in_postgres.sessions import Session
from graphsearch.stores.in_postgres.signing import stored_relations
from graphsearch.stores.in_postgres.statements import statement
from graphsearch.stores.shared.merging import Record, Tree, collapses, merge_id, refuse_merge, refuse_undo, shown


async def merge(session: Session, source_id: UUID, target_id: UUID, now: datetime, *, dry_run: bool) -> Merge:
    """One entity in the place of two; with ``dry_run`` only what that would move."""
    found = {each.id: each for each in await get(session, ElementKind.ENTITY, [source_id, target_id])}
    refuse_merge(source_id, target_id, found.get(source_id), found.get(target_id))
    mentions, claims, relations = await session.columns(statement("what would move"), id=source_id)
    number = session.merges + 1
    made = Merge(
        id=merge_id(source_id, target_id, number),
        source_id=source_id,
        target_id=target_id,
        created_at=now,
        mentions=mentions,
        claims=claims,
        relations=relations,
    )
    if dry_run:
        return made
    await _hold(session, target_id, mentions + claims)
    await session.run(statement("count merge"))
    session.merges = number
    kept = attrs.asdict(made, filter=lambda field, _: field.name != "undone_at")
    await session.run(statement("keep merge"), number=number, held=mentions + claims, **kept)
    await put_into(session, [source_id], target_id)
    await session.run(statement("move mentions"), id=source_id, target_id=target_id)
    groups = await _groups(session, "move claims", id=source_id, target_id=target_id)
    lapsed = await _lapsed(session, groups)
    types = types_at_start(session)
    _, lost = await refold(session, groups, types, now)
    await retract(session, lost, now)
    await session.run(statement("revive relations"), ids=list(lapsed), times=list(lapsed.values()))
    touching = await stored_relations(session, "relations touching", relation_ids=[], entity_ids=[source_id])
    await _move(session, [each.relation for each in touching.values() if each.relation.retracted_at is None], now)
    await sign_beside(session, await call_again(session, [target_id], anew=[source_id]), types, now)
    return made


async def undo_merge(session: Session, key: UUID, now: datetime) -> UndoReport:
    """Two entities again in the place of one."""
    rows = await session.dicts(statement("merge of"), id=key)
    record = refuse_undo(key, _record(rows[0]) if rows else None)
    source, target = record.merge.source_id, record.merge.target_id
    tree = await read_tree(session, [source])
    own = list(tree.below(source))
    target = tree.into[source]
    await session.run(statement("end merge"), id=key, now=now)
    await put_into(session, [source], None)
    await _hold(session, target, -record.held)
    await session.run(statement("bring mentions back"), id=source, ids=own)
    groups = await _groups(session, "bring claims back", id=source, ids=own)
    types = types_at_start(session)
    _, lost = await refold(session, groups, types, now)
    lapsed = {each for (each,) in await (await session.run(statement("lapse relations"), ids=lost)).fetchall()}
    await drop_relations(session, [each for each in lost if each not in lapsed])
    said = await stored_relations(session, "relations said", ids=own)
    await _move(session, [each.relation for each in said.values()], now)
    reworded = await call_again(session, [target], anew=[source])
    await sign_beside(session, reworded, types, now)
    mentions, claims, relations = await session.columns(statement("what would move"), id=source)
    (stayed,) = await session.columns(
        statement("written since"), id=tree.root(target), source_id=source, number=record.number
    )
    return UndoReport(
        mentions=mentions,
        claims=claims,
        relations=relations,
        stayed=stayed,
        forgotten=max(0, record.held - mentions - claims),
        reworded=reworded,
    )


async def merges(session: Session, entity_ids: Sequence[UUID]) -> list[Merge]:
    """Merges of any of the entities, or all, in the order they were made."""
    rows = await session.dicts(statement("merges"), ids=list(entity_ids) or None)
    return [_record(row).merge for row in rows]


def _record(row: dict[str, Any]) -> Record:
    number, held = row.pop("number"), row.pop("held")
    return Record(Merge(**row), number, held)


async def _groups(session: Session, name: str, **values: Any) -> set[Group]:
    return set(await (await session.run(statement(name), **values)).fetchall())


async def _lapsed(session: Session, groups: Iterable[Group]) -> dict[UUID, datetime]:
    """The relations of groups that are retracted, and since when."""
    ordered = sorted(groups)
    return dict(await (await session.run(statement("lapsed relations"), **keys_of(ordered))).fetchall())


async def _hold(session: Session, key: UUID, step: int) -> None:
    """Count mentions and claims to the merges of an entity, and of all that it was merged into."""
    above = (await read_tree(session, [key])).above([key])
    await session.run(statement("hold"), ids=above, step=step)


async def _move(session: Session, relations: Collection[Relation], now: datetime) -> None:
    """Let relations that were given lead between the entities that are meant by now."""
    if not relations:
        return
    found = await session.run(statement("ends said"), ids=[each.id for each in relations])
    given = {key: (source, target) for key, source, target in await found.fetchall()}
    ends = {each.id: given.get(each.id, (each.source_id, each.target_id)) for each in relations}
    tree = await read_tree(session, {end for pair in ends.values() for end in pair})
    moved = [_moved(each, *ends[each.id], tree, now) for each in relations]
    await put_relations(session, moved, types_at_start(session), now, folded=False)
    meant = {each.id: (each.source_id, each.target_id) for each in moved}
    await say_ends(session, {key: (None, None) if meant[key] == pair else pair for key, pair in ends.items()})


def _moved(relation: Relation, source: UUID, target: UUID, tree: Tree, now: datetime) -> Relation:
    original = attrs.evolve(relation, source_id=source, target_id=target)
    turned = relation.source_id == relation.target_id and source != target
    retracted_at = None if turned else relation.retracted_at
    if collapses(original, tree.root):
        retracted_at = relation.retracted_at or now
    return attrs.evolve(shown(original, tree.root), retracted_at=retracted_at)
