"""A scope as records: pages of rows, with what belongs to them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from graphsearch.model import ElementKind, validation
from graphsearch.model.stored import (
    UNKNOWN_CODE,
    Attestation,
    Counter,
    DistinctPair,
    Key,
    Record,
    RecordKind,
    StoredEntity,
    StoredMemory,
    StoredMerge,
    StoredRelation,
    StoredSession,
)
from graphsearch.protocols.rows import EntityRow, MemoryRow, MergeRow, RelationRow
from graphsearch.protocols.store import Store
from graphsearch.stores.writer.communities import communities_of


async def records(store: Store, kind: RecordKind, *, after: Key | None = None, limit: int = 1_000) -> Sequence[Record]:
    """The next page of records of a kind, in order of key (`GraphStore.records`)."""
    validation.refuse("page", validation.number("limit", limit, 0))
    rows = "type" if kind is RecordKind.RELATION_TYPE else str(kind)
    page = await store.page(rows, after=after and _place(kind, after), limit=limit)
    return await _READERS[kind](store, page)


def _place(kind: RecordKind, key: Key) -> Any:
    """What the rows of a kind are in the order of, of the key of a record."""
    match kind:
        case RecordKind.ENTITY | RecordKind.RELATION | RecordKind.COMMUNITY:
            return UUID(key[0])
        case RecordKind.DISTINCT:
            return (UUID(key[0]), UUID(key[1]))
        case RecordKind.MERGE:
            return int(key[0])
        case RecordKind.LINK:
            return key
        case _:
            return key[0]


async def _entities(store: Store, rows: Sequence[EntityRow]) -> list[Record]:
    belonging = await _belonging(store, ElementKind.ENTITY, [row.key for row in rows])
    attested = await _attestations(store, [row.signature for row in rows])
    words = {each.key: each.value for each in await store.rows("words", [row.key for row in rows])}
    return [
        StoredEntity(
            entity=row.entity,
            given_type=row.given_type,
            given_aliases=row.given_aliases,
            named=row.named,
            words=words.get(row.key, {}),
            attestation=attested[row.signature],
            **belonging(row.key),
        )
        for row in rows
    ]


async def _memories(store: Store, rows: Sequence[MemoryRow]) -> list[Record]:
    keys = [row.key for row in rows]
    belonging = await _belonging(store, ElementKind.MEMORY, keys)
    proofs: dict[str, dict[str, list[Any]]] = {"mention": {}, "claim": {}}
    for kind, of in proofs.items():
        for row in sorted(await store.rows_by(kind, "memory", keys), key=lambda row: row.ordinal):
            of.setdefault(row.key[0], []).append(getattr(row, kind))
    return [
        StoredMemory(
            memory=row.memory,
            mentions=proofs["mention"].get(row.key, ()),
            claims=proofs["claim"].get(row.key, ()),
            merges=row.merges,
            **belonging(row.key),
        )
        for row in rows
    ]


async def _relations(store: Store, rows: Sequence[RelationRow]) -> list[Record]:
    belonging = await _belonging(store, ElementKind.RELATION, [row.key for row in rows])
    attested = await _attestations(store, [row.signature for row in rows])
    return [
        StoredRelation(
            relation=row.relation,
            folded=row.folded,
            given_ends=row.given,
            lapsed_at=row.lapsed_at,
            attestation=attested[row.signature],
            **belonging(row.key),
        )
        for row in rows
    ]


async def _belonging(store: Store, kind: ElementKind, keys: Sequence[Any]) -> Callable[[Any], dict[str, Any]]:
    """The outcomes and the vector of each of some elements."""
    vectors = {row.key: row.value for row in await store.rows(f"{kind}_vector", keys)}
    outcomes: dict[str, list[Any]] = {}
    for row in await store.rows_by("outcome", "element", [(str(kind), str(key)) for key in keys]):
        outcomes.setdefault(row.key[1], []).append(row.value)

    def of(key: Any) -> dict[str, Any]:
        past = sorted(outcomes.get(str(key), ()), key=lambda each: each.seq)
        return {"outcomes": past, "vector": vectors.get(key)}

    return of


async def _attestations(store: Store, codes: Collection[int]) -> Mapping[int, Attestation]:
    """What signatures name, by their codes; those that do not exist any more are unknown."""
    signatures = await store.signatures(sorted(set(codes)))
    named = {code for each in signatures.values() for code in (*each.evidence, *each.influences)}
    there = await store.signatures(sorted(named))

    def known(codes: Iterable[int]) -> list[int]:
        return sorted(code if code in there else UNKNOWN_CODE for code in codes)

    return {
        code: Attestation(
            evidence=known(each.evidence), influences=known(each.influences), shared=each.shared, typed=each.typed
        )
        for code, each in signatures.items()
    }


async def _communities(store: Store, rows: Sequence[Any]) -> list[Record]:
    return [*communities_of(rows, await store.rows_by("member", "community", [row.key for row in rows]))]


def _each(build: Callable[[Any], Record]) -> Callable[[Store, Sequence[Any]], Awaitable[Sequence[Record]]]:
    """A reader of records that are built of one row each."""

    async def read(_: Store, rows: Sequence[Any]) -> Sequence[Record]:
        return [build(row) for row in rows]

    return read


def _merge(row: MergeRow) -> Record:
    return StoredMerge(merge=row.merge, number=row.number, held=row.held)


_READERS: Final[Mapping[RecordKind, Callable[[Store, Any], Awaitable[Sequence[Record]]]]] = {
    RecordKind.RELATION_TYPE: _each(lambda row: row.value),
    RecordKind.COUNTER: _each(lambda row: Counter(name=row.key, number=row.value)),
    RecordKind.MERGE: _each(_merge),
    RecordKind.ENTITY: _entities,
    RecordKind.MEMORY: _memories,
    RecordKind.RELATION: _relations,
    RecordKind.DISTINCT: _each(lambda row: DistinctPair(low_id=row.key[0], high_id=row.key[1])),
    RecordKind.LINK: _each(lambda row: row.value),
    RecordKind.COMMUNITY: _communities,
    RecordKind.SESSION: _each(lambda row: StoredSession(id=row.key, principal=row.value)),
    RecordKind.INJECTION: _each(lambda row: row.value),
}
