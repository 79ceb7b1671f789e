"""A scope in Postgres as records: pages of ids, and what is stored for each of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final
from uuid import UUID

import numpy as np

from graphsearch.model import (
    Claim,
    Community,
    CommunitySummary,
    ElementKind,
    MemoryLink,
    Mention,
    Merge,
    Outcome,
    RelationType,
)
from graphsearch.model.codec import decode
from graphsearch.model.signatures import Signature
from graphsearch.model.stored import (
    UNKNOWN_CODE,
    Attestation,
    Counter,
    DistinctPair,
    HalfVector,
    Key,
    Record,
    RecordKind,
    StoredEntity,
    StoredMemory,
    StoredMerge,
    StoredOutcome,
    StoredRelation,
    StoredSession,
)
from graphsearch.stores.in_postgres.rows import claim_of, element_of, injection_of, mention_of
from graphsearch.stores.in_postgres.session.sessions import Session
from graphsearch.stores.in_postgres.session.statements import statement

Reader = Callable[[Session, Key | None, int], Awaitable[Sequence[Record]]]

_HEAD: Final = 4
"""Bytes before the numbers of a halfvec: how many there are, and two unused ones."""


async def _ids(session: Session, kind: ElementKind, table: str, after: Key | None, limit: int) -> list[Any]:
    """Ids, by a plan for these values: one for any would read a page from the beginning of the table."""
    start = after and (after[0] if kind is ElementKind.MEMORY else UUID(after[0]))
    page = statement("page of ids", kind, table=table, key="id")
    return [key for (key,) in await session.rows(page, after=start, limit=limit)]


async def rows_of(session: Session, table: str) -> int:
    """The number of rows of a table."""
    number: int = (await session.row(statement("number of rows", table=table)))[0]
    return number


async def _entities(session: Session, after: Key | None, limit: int) -> Sequence[Record]:
    ids = await _ids(session, ElementKind.ENTITY, "entity", after, limit)
    rows = await session.dicts(statement("stored entities"), ids=ids)
    outcomes = await _outcomes(session, ElementKind.ENTITY, ids)
    attested = await _attestations(session, rows)
    return [
        StoredEntity(
            given_type=row.pop("given_type"),
            given_aliases=row.pop("given_aliases") or (),
            named=row.pop("named"),
            words=row.pop("words") or {},
            attestation=attestation,
            vector=_vector(row.pop("vector")),
            outcomes=outcomes.get(str(row["id"]), ()),
            entity=element_of(ElementKind.ENTITY, row),
        )
        for row, attestation in zip(rows, attested, strict=True)
    ]


async def _memories(session: Session, after: Key | None, limit: int) -> Sequence[Record]:
    ids = await _ids(session, ElementKind.MEMORY, "memory", after, limit)
    rows = await session.dicts(statement("stored memories"), ids=ids)
    mentions: dict[str, list[Mention]] = {}
    for row in await session.dicts(statement("original mentions"), memory_ids=ids):
        mentions.setdefault(row["memory_id"], []).append(mention_of(row))
    claims: dict[str, list[Claim]] = {}
    for row in await session.dicts(statement("original claims"), memory_ids=ids):
        claims.setdefault(row["memory_id"], []).append(claim_of(row).claim)
    outcomes = await _outcomes(session, ElementKind.MEMORY, ids)
    return [
        StoredMemory(
            mentions=mentions.get(row["id"], ()),
            claims=claims.get(row["id"], ()),
            merges=row.pop("merges"),
            vector=_vector(row.pop("vector")),
            outcomes=outcomes.get(row["id"], ()),
            memory=element_of(ElementKind.MEMORY, row),
        )
        for row in rows
    ]


async def _relations(session: Session, after: Key | None, limit: int) -> Sequence[Record]:
    ids = await _ids(session, ElementKind.RELATION, "relation", after, limit)
    rows = await session.dicts(statement("stored relations"), ids=ids)
    outcomes = await _outcomes(session, ElementKind.RELATION, ids)
    attested = await _attestations(session, rows)
    found = []
    for row, attestation in zip(rows, attested, strict=True):
        ends = (row.pop("original_source_id"), row.pop("original_target_id"))
        found.append(
            StoredRelation(
                folded=row.pop("folded"),
                given_ends=None if ends[0] is None else ends,
                lapsed_at=row.pop("lapsed_at"),
                attestation=attestation,
                vector=_vector(row.pop("vector")),
                outcomes=outcomes.get(str(row["id"]), ()),
                relation=element_of(ElementKind.RELATION, row),
            )
        )
    return found


async def _outcomes(session: Session, kind: ElementKind, ids: Iterable[Any]) -> dict[str, list[StoredOutcome]]:
    found: dict[str, list[StoredOutcome]] = {}
    rows = await session.rows(statement("outcomes of kind"), kind=kind.value, ids=list(map(str, ids)))
    for key, session_id, seq, outcome in rows:
        found.setdefault(key, []).append(StoredOutcome(session_id=session_id, seq=seq, outcome=Outcome(outcome)))
    return found


async def _attestations(session: Session, rows: Iterable[dict[str, Any]]) -> list[Attestation]:
    """What the signatures of some rows name; their column is taken out of them."""
    signatures = [decode(Signature, row.pop("signature")) for row in rows]
    named = sorted({code for each in signatures for code in (*each.evidence, *each.influences)})
    there = set(await session.column(statement("codes there"), codes=named)) if named else set()

    def lasting(codes: Iterable[int]) -> list[int]:
        return sorted(code if code in there else UNKNOWN_CODE for code in codes)

    return [
        Attestation(
            evidence=lasting(each.evidence),
            influences=lasting(each.influences),
            shared=each.shared,
            typed=each.typed,
        )
        for each in signatures
    ]


def _vector(packed: bytes | None) -> HalfVector | None:
    return None if packed is None else np.frombuffer(packed, ">f2", offset=_HEAD).astype(np.float16)


def _rows_as(build: Callable[..., Record], table: str, key: str, of: type[str | int] = str) -> Reader:
    """A reader of records that are built of the rows of a table."""

    async def read(session: Session, after: Key | None, limit: int) -> Sequence[Record]:
        start = of(after[0]) if after else of()
        rows = await session.dicts(statement("page", table=table, key=key), after=start, limit=limit)
        return [build(**{name: row[name] for name in row.keys() - {"org_id", "project_id"}}) for row in rows]

    return read


def _merge(number: int, held: int, **merge: Any) -> Record:
    return StoredMerge(number=number, held=held, merge=Merge(**merge))


async def _pairs(session: Session, after: Key | None, limit: int) -> Sequence[Record]:
    low, high = (UUID(after[0]), UUID(after[1])) if after else (None, None)
    rows = await session.rows(statement("page of pairs"), low=low, high=high, limit=limit)
    return [DistinctPair(low_id=one, high_id=other) for one, other in rows]


async def _links(session: Session, after: Key | None, limit: int) -> Sequence[Record]:
    given = dict(zip(("from", "to", "type"), after or (None, None, None), strict=True))
    return [MemoryLink(**row) for row in await session.dicts(statement("page of links"), limit=limit, **given)]


async def _communities(session: Session, after: Key | None, limit: int) -> Sequence[Record]:
    found = await stored_communities(session, await _ids(session, ElementKind.RELATION, "community", after, limit))
    return sorted(found, key=attrgetter("id"))


async def stored_communities(session: Session, ids: Sequence[UUID] | None) -> list[Community]:
    """Communities as they were detected, without labels."""
    members: dict[UUID, list[tuple[UUID, float, int | None]]] = {}
    for community, *member in await session.rows(statement("members"), ids=ids):
        members.setdefault(community, []).append(tuple(member))
    return [
        Community(
            id=key,
            members=[member for member, _, _ in members[key]],
            strengths=[strength for _, strength, _ in members[key]],
            density=density,
            top=[
                member for place, member in sorted((place, key) for key, _, place in members[key] if place is not None)
            ],
            label="",
            summary=None if summary is None else decode(CommunitySummary, summary),
        )
        for key, density, summary in await session.rows(statement("communities"), ids=ids)
    ]


READERS: Final[Mapping[RecordKind, Reader]] = {
    RecordKind.RELATION_TYPE: _rows_as(RelationType, "relation_type", "name"),
    RecordKind.COUNTER: _rows_as(Counter, "counter", "name"),
    RecordKind.MERGE: _rows_as(_merge, "merge", "number", int),
    RecordKind.ENTITY: _entities,
    RecordKind.MEMORY: _memories,
    RecordKind.RELATION: _relations,
    RecordKind.DISTINCT: _pairs,
    RecordKind.LINK: _links,
    RecordKind.COMMUNITY: _communities,
    RecordKind.SESSION: _rows_as(StoredSession, "session", "id"),
    RecordKind.INJECTION: _rows_as(lambda **row: injection_of(row), "injection", "id"),
}
