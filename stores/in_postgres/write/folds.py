"""Folding: the relations of the groups that a write touches are folded from their claims again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.claims.folding import DatedClaim, Together, fold, group_of, type_named
from graphsearch.model import Claim, ElementKind, Relation, RelationType
from graphsearch.stores.in_postgres.index.bulk import all_new, copy_in
from graphsearch.stores.in_postgres.index.incoming import RELATION, Endpoint, relation_columns
from graphsearch.stores.in_postgres.index.indexing import (
    drop_changed_facts,
    index_documents,
    is_bulk,
    lists_facts,
)
from graphsearch.stores.in_postgres.index.signing import (
    NONE_FOLDED,
    Stored,
    by_id,
    codes_citing,
    keep_signatures,
    stored_relations,
)
from graphsearch.stores.in_postgres.rows import claim_of, group_values, types_of
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement
from graphsearch.stores.in_postgres.write.renaming import read_tree
from graphsearch.stores.in_postgres.write.summaries import drop_summaries, drop_summaries_of_incoming
from graphsearch.stores.shared.merging import collapses, shown

Group = tuple[UUID, str]
"""Source and type: the claims of a group are folded together."""
Ends = Mapping[UUID, tuple[UUID, UUID] | tuple[None, None]]
"""By asserted relation: the source and target that it was given with, if they were merged since."""

_EVERY_TARGET: Final[Mapping[Group, Collection[UUID]]] = MappingProxyType({})


async def stored_types(session: Session) -> dict[str, RelationType]:
    """The current relation types by name: the defaults and the registered ones."""
    return types_of(await session.dicts(statement("relation types")))


async def refold(
    session: Session,
    groups: Iterable[Group],
    types: Mapping[str, RelationType],
    now: datetime,
    targets: Mapping[Group, Collection[UUID]] = _EVERY_TARGET,
) -> tuple[int, list[UUID]]:
    """Fold groups again; return how many relations are new or changed, and the ids without claims now.

    If ``targets`` names some for a group, and its type is not functional, only these are folded: the others are
    independent of them.
    """
    ordered = sorted(set(groups))
    if not ordered:
        return 0, []
    keys = keys_of(ordered, {group: found for group, found in targets.items() if not _functional(group[1], types)})
    claims: dict[Group, list[DatedClaim]] = {group: [] for group in ordered}
    for row in await session.dicts(statement("claims of groups"), **keys):
        claims[row["source_id"], row["type"]].append(claim_of(row))
    before = await stored_relations(session, "relations of groups", **keys)
    after: list[Relation] = []
    for (_, name), dated in claims.items():
        after += [_with_own(each, before) for each in fold(dated, type_named(name, types))]
    together = _together(after, (each.claim for dated in claims.values() for each in dated), types)
    fresh = await all_new(session, ElementKind.RELATION, after)
    changed = await put_relations(session, after, types, now, folded=True, fresh=fresh, together=together)
    given = {relation.id for relation in after}
    return changed, sorted(key for key, old in before.items() if old.folded and key not in given)


def keys_of(groups: Iterable[Group], targets: Mapping[Group, Collection[UUID]] = _EVERY_TARGET) -> dict[str, Any]:
    """Groups as parameters of a statement: a row for each named target of a group, else one without."""
    return group_values((*group, target) for group in groups for target in sorted(targets.get(group, ())) or (None,))


def _together(
    relations: Iterable[Relation], claims: Iterable[Claim], types: Mapping[str, RelationType]
) -> dict[UUID, Together]:
    """By relation: what it was folded together with, from all claims of such groups."""
    group_claims = defaultdict[Any, list[Claim]](list)
    for claim in claims:
        group_claims[group_of(claim, types)].append(claim)
    groups = {group: Together.of(found) for group, found in group_claims.items()}
    return {each.id: groups[group_of(each, types)] for each in relations}


async def sign_folded_again(
    session: Session, entity_ids: Collection[UUID], types: Mapping[str, RelationType], now: datetime
) -> None:
    """Renew the signatures of relations folded with one to an entity whose signature has changed."""
    functional = [name for name, each in types.items() if each.functional]
    if entity_ids and functional:
        led = await session.rows(statement("groups leading to"), ids=list(entity_ids), types=functional)
        await refold(session, led, types, now)


def _functional(name: str, types: Mapping[str, RelationType]) -> bool:
    return name in types and types[name].functional


def _with_own(folded: Relation, before: Mapping[UUID, Stored]) -> Relation:
    """Fields that claims do not state are unchanged."""
    if (old := before.get(folded.id)) is None:
        return folded
    return attrs.evolve(folded, labels=old.relation.labels, attributes=old.relation.attributes)


_SOURCE: Final = attrgetter("source_id.int")
"""The indexes that walks read a relation by: of three, one is written faster in this order."""


async def put_relations(
    session: Session,
    relations: Sequence[Relation],
    types: Mapping[str, RelationType],
    now: datetime,
    *,
    folded: bool,
    fresh: bool = False,
    together: Mapping[UUID, Together] = NONE_FOLDED,
) -> int:
    """Write relations with their evidence and documents; return how many are new or changed.

    ``fresh`` states that none of them is stored yet; many of these are left unsettled. ``together`` is as in `Codes`.
    """
    if not relations:
        return 0
    settled = not (fresh and is_bulk(relations))
    ordered = sorted(relations, key=_SOURCE) if settled else by_id(relations)
    codes = await codes_citing(session, ordered, together)
    proved = any(each.evidence for each in ordered)
    listed = lists_facts(session)

    ends = await endpoints(session, ordered) if settled else {}
    signed = codes.of_relations(ordered)
    await copy_in(session, RELATION, relation_columns(ordered, signed, now, types, folded=folded, ends=ends))
    if listed and not fresh:
        await drop_changed_facts(session)
    if not fresh:
        await drop_summaries_of_incoming(session, "reworded relations")
    name = "insert relations" if fresh else "upsert relations"
    changed = (await session.run(statement(name), settled=settled)).count
    if together and not fresh:
        await session.run(statement("sign relations written"))
    if listed:
        await session.run(statement("list facts written"))
    if not fresh:
        await session.run(statement("drop evidence"))
    if proved:
        await session.run(statement("insert evidence"))
    await keep_signatures(session, codes)
    await index_documents(session, ElementKind.RELATION, relations, fresh=fresh)
    return changed


async def endpoints(session: Session, relations: Sequence[Relation]) -> dict[UUID, Endpoint]:
    """The columns to copy of the ends of relations, of those ends that every view shows that shows the relation."""
    ids = {end for each in relations for end in (each.source_id, each.target_id)}
    rows = await session.rows(statement("columns of ends"), ids=list(ids))
    return {key: (columns, created) for key, columns, created in rows}


async def give_relations(
    session: Session, relations: Sequence[Relation], types: Mapping[str, RelationType], now: datetime
) -> int:
    """Write asserted relations. Claims of the same relation take precedence, except for labels and attributes."""
    if not relations or await all_new(session, ElementKind.RELATION, relations):
        return await put_relations(session, relations, types, now, folded=False, fresh=True)
    claimed = await stored_relations(session, "relations folded", ids=[each.id for each in relations])
    given = [each for each in relations if each.id not in claimed]
    marked = [
        attrs.evolve(claimed[each.id].relation, labels=each.labels, attributes=each.attributes)
        for each in relations
        if each.id in claimed
    ]
    changed = await put_relations(session, given, types, now, folded=False)
    if not marked:
        return changed
    rows = await session.dicts(statement("claims of groups"), **keys_of({(e.source_id, e.type) for e in marked}))
    together = _together(marked, (claim_of(row).claim for row in rows), types)
    return changed + await put_relations(session, marked, types, now, folded=True, together=together)


async def retract(session: Session, ids: Sequence[UUID], now: datetime) -> int:
    """Retract relations; return how many were not retracted before."""
    if not ids:
        return 0
    await drop_summaries(session, relations=ids)
    return (await session.run(statement("retract relations"), ids=list(ids), now=now)).count


async def ends_meant(session: Session, relations: Sequence[Relation], now: datetime) -> tuple[Sequence[Relation], Ends]:
    """Asserted relations, between the entities that their ends were merged into, and the original ends to record.

    A relation that moved with a merge, and is asserted again unchanged, moves back when the merge is undone; so does
    one that would lead from an entity to itself.
    """
    if not session.merges or not relations:
        return relations, {}
    tree = await read_tree(session, {end for each in relations for end in (each.source_id, each.target_id)})
    found = await session.rows(statement("original ends"), ids=[each.id for each in relations])
    kept = {key: (source, target) for key, source, target in found}
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
