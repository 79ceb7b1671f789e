"""Elements, what proves them, and numbers of both, read from rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from heapq import nsmallest
from typing import Any, Final, Unpack
from uuid import UUID

from graphsearch.claims.folding import DatedClaim
from graphsearch.claims.naming import folded_name, refuse_limit
from graphsearch.model import (
    AssertedEntity,
    Claim,
    ElementKind,
    Group,
    Mention,
    Statistics,
    SurfaceForm,
    validation,
)
from graphsearch.model.identity import snake_case
from graphsearch.model.validation import revised
from graphsearch.protocols import Store
from graphsearch.protocols.rows import ClaimRow, EntityRow, Filters, MentionRow, Rows

_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)
_LATEST: Final = datetime.max.replace(tzinfo=UTC)


# -- elements ------------------------------------------------------------------------------------------------------


async def elements_of(rows: Rows, kind: ElementKind, ids: Sequence[Any]) -> list[Any]:
    """Those of some elements that exist, in the order of their ids."""
    found = {row.key: getattr(row, kind) for row in await rows.rows(kind, ids)}
    return [found[key] for key in ids if key in found]


async def page_of(
    rows: Rows, kind: ElementKind, after: UUID | str | None, limit: int, **filters: Unpack[Filters]
) -> list[Any]:
    """The next elements of a kind that pass filters, in order of id."""
    validation.refuse("page", validation.number("limit", limit, 0))
    if named := filters.get("type"):
        filters["type"] = snake_case(named)
    return [getattr(row, kind) for row in await rows.page(kind, after=after, limit=limit, **filters)]


async def asserted(rows: Rows, ids: Sequence[UUID]) -> list[AssertedEntity]:
    """Entities as they were asserted, in the order of their ids."""
    found = {row.key: _asserted(row) for row in await rows.rows(ElementKind.ENTITY, ids)}
    return [found[key] for key in ids if key in found]


def _asserted(row: EntityRow) -> AssertedEntity:
    given = revised(row.entity, type=row.given_type, aliases=row.given_aliases)
    return AssertedEntity(entity=given, named=row.named)


async def degrees(rows: Rows, ids: Collection[UUID]) -> Mapping[UUID, int]:
    """The number of unretracted relations of each entity, in both directions."""
    there = [row.key for row in await rows.rows(ElementKind.ENTITY, ids)]
    found = await rows.rows_by(ElementKind.RELATION, "end", there) if there else ()
    number = Counter(end for row in found if row.relation.retracted_at is None for end in row.ends)
    return {key: number[key] for key in there}


# -- mentions, claims and merges ------------------------------------------------------------------------------------


async def mentions(rows: Rows, memory_ids: Collection[str], entity_ids: Collection[UUID]) -> list[Mention]:
    """Mentions in any of the memories or of any of the entities, by (memory, entity, span)."""
    found = [
        *(await rows.rows_by("mention", "memory", memory_ids) if memory_ids else ()),
        *(await rows.rows_by("mention", "entity", entity_ids) if entity_ids else ()),
    ]
    return sorted({row.key: _meant(row) for row in found}.values(), key=mention_place)


def _meant(row: MentionRow) -> Mention:
    """The mention of the entity that is meant."""
    return row.mention if row.entity_id == row.mention.entity_id else revised(row.mention, entity_id=row.entity_id)


async def claims(
    rows: Rows, memory_ids: Collection[str], relation_ids: Collection[UUID], groups: Collection[Group]
) -> list[Claim]:
    """Claims of any of the memories, behind any of the relations or folded in any of the groups, in fold order."""
    found: list[ClaimRow] = []
    if memory_ids:
        found += await rows.rows_by("claim", "memory", memory_ids)
    if relation_ids:
        relations = [row.relation for row in await rows.rows("relation", relation_ids)]
        proofs = {((each.source_id, each.type, each.target_id), key) for each in relations for key in each.evidence}
        between = await rows.rows_by("claim", "group", {fact for fact, _ in proofs}) if proofs else ()
        found += [row for row in between if (_fact(row), row.claim.memory_id) in proofs]
    if groups:
        found += [row for row in await rows.rows_by("claim", "group", groups) if row.folds]
    dated = {DatedClaim(row.shown, row.occurred_at) for row in found}
    return [each.claim for each in sorted(dated, key=claim_place)]


def _fact(row: ClaimRow) -> Group:
    source, target = row.ends
    return source, row.claim.type, target


async def surface_forms(
    store: Store, entity_ids: Collection[UUID], names: Iterable[str] | None, limit: int
) -> list[SurfaceForm]:
    """Surface forms of mentions, by (entity, surface), each with the first of its memories."""
    refuse_limit(limit)
    wanted = None if names is None else set(map(folded_name, names))
    found: dict[tuple[UUID, str], set[str]] = {}
    for entity, row in await _mentions_of(store, entity_ids):
        found.setdefault((entity, row.mention.surface), set()).add(row.mention.memory_id)
    return [
        SurfaceForm(entity_id=entity, surface=surface, memory_ids=nsmallest(limit, memories))
        for (entity, surface), memories in sorted(found.items())
        if wanted is None or folded_name(surface) in wanted
    ]


async def first_written(
    store: Store, entity_ids: Collection[UUID], limit: int
) -> dict[UUID, list[tuple[datetime, str]]]:
    """The first memories that mention each entity, by (created_at, id)."""
    refuse_limit(limit)
    found: dict[UUID, set[tuple[datetime, str]]] = {}
    for entity, row in await _mentions_of(store, entity_ids):
        if row.created_at is not None:
            found.setdefault(entity, set()).add((row.created_at, row.mention.memory_id))
    return {entity: first for entity, written in found.items() if (first := nsmallest(limit, written))}


async def _mentions_of(store: Store, entity_ids: Collection[UUID]) -> list[tuple[UUID, MentionRow]]:
    """What mentions each of some entities: of merged ones, what was written for them."""
    wanted = set(entity_ids)
    found = [(row.entity_id, row) for row in await store.rows_by("mention", "entity", wanted)]
    if (await store.scope_row()).merges:
        written = [(row.mention.entity_id, row) for row in await store.rows_by("mention", "written", wanted)]
        found += [(end, row) for end, row in written if end != row.entity_id]
    return found


def mention_place(mention: Mention) -> tuple[Any, ...]:
    """By (memory, entity, span), one without a span first."""
    return (mention.memory_id, mention.entity_id, _span(mention), mention.surface, mention.type, mention.confidence)


def claim_place(dated: DatedClaim) -> tuple[Any, ...]:
    """In the order of the fold, then by content."""
    claim = dated.claim
    ends = (claim.source_id, claim.type, claim.target_id)
    period = (claim.valid_from or _EARLIEST, claim.valid_to or _LATEST)
    content = (claim.extractor, claim.fact, claim.kind, claim.confidence, claim.ceiling, _span(claim))
    return (dated.order, ends, period, *content)


def _span(proof: Mention | Claim) -> tuple[int, int]:
    return (proof.span.start, proof.span.end) if proof.span else (-1, -1)


# -- numbers -------------------------------------------------------------------------------------------------------


async def statistics(store: Store) -> Statistics:
    """Element counts of the scope; the caller is in a snapshot."""
    scope, counts = await store.scope_row(), await store.counts([*ElementKind, "claim", "mention"])
    entities, relations = sum(counts.entities_by_type.values()), sum(counts.relations_by_type.values())
    return Statistics(
        entities=entities,
        relations=relations,
        memories=counts.rows["memory"],
        claims=counts.rows["claim"],
        mentions=counts.rows["mention"],
        entities_by_type=counts.entities_by_type,
        relations_by_type=counts.relations_by_type,
        embedder=scope.embedder,
        dimensions=scope.dimensions,
        max_degree=counts.max_degree,
        mean_degree=2 * relations / entities if entities else 0.0,
        counters={row.key: row.value for row in await store.page("counter")},
    )
