"""A scope as records: pages of rows, with what belongs to them."""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from graphsearch.errors import AnalyserError
from graphsearch.model import ElementKind, validation
from graphsearch.model.stored import (
    UNKNOWN_CODE,
    Attestation,
    Counter,
    DistinctPair,
    Key,
    Record,
    RecordKind,
    ScopeSettings,
    StoredEntity,
    StoredMemory,
    StoredRelation,
    StoredSession,
)
from graphsearch.protocols import Store
from graphsearch.protocols.rows import EntityRow, MemoryRow, RelationRow
from graphsearch.stores.writer.communities import communities_of
from graphsearch.stores.writer.loading import load

_BELONGING: Final = ("mention", "claim", "outcome")
_ROWS: Final = {kind: "type" if kind is RecordKind.RELATION_TYPE else str(kind) for kind in RecordKind}
"""The kind of rows that records of a kind are made of."""
_COUNTED: Final = {**{str(kind): of for kind, of in _ROWS.items()}, **{f"{of}s": of for of in _BELONGING}}
"""What is counted, by the name that settings give it."""
_VECTORS: Final = {str(kind): f"{kind}_vector" for kind in ElementKind}


class Moving(Store):
    """A graph as records: two stores that have loaded the same ones give the same answers."""

    async def settings(self) -> ScopeSettings:
        """The settings of the scope, with the numbers of its records."""
        async with self.snapshot():
            scope = await self.scope_row()
            numbers = (await self.counts([*_COUNTED.values(), *_VECTORS.values()])).rows
        return ScopeSettings(
            analyser=self.analyser.name,
            alpha=scope.alpha,
            embedder=scope.embedder,
            dimensions=scope.dimensions,
            merges=scope.merges,
            id_key=scope.id_key,
            counts={name: numbers[of] for name, of in _COUNTED.items()},
            vectors={kind: numbers[of] for kind, of in _VECTORS.items()},
        )

    async def records(self, kind: RecordKind, *, after: Key | None = None, limit: int = 1_000) -> Sequence[Record]:
        """The next page of records of a kind, in order of key."""
        validation.refuse("page", validation.number("limit", limit, 0))
        async with self.snapshot():
            page = await self.page(_ROWS[kind], after=after and _place(kind, after), limit=limit)
            return await _READERS[kind](self, page)

    async def load(
        self, settings: ScopeSettings, pages: AsyncIterable[Sequence[Record]], *, replace: bool = False
    ) -> None:
        """Load records, all or none, as the whole content of the scope; call `settle` afterwards.

        A page has records of one kind, in order of key; the pages come in the order of `RecordKind`. The scope is
        created if it does not exist, and is left as it was when anything raises, ``pages`` included. With ``replace``
        whatever it holds is removed first; without, a scope that holds anything raises `OccupiedScopeError`. Raises
        `AnalyserError` for records made with another analyser, and `RecordError` for a record out of order or one that
        refers to another that is not there.
        """
        if settings.analyser != self.analyser.name:
            raise AnalyserError(
                f"the records were indexed by the analyser {settings.analyser!r}, not by {self.analyser.name!r}: "
                "open the store with that one"
            )
        async with self.writing(create=True, changing=True, renewing=replace) as port:
            await load(port, settings, pages, replace=replace)


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


_READERS: Final[Mapping[RecordKind, Callable[[Store, Any], Awaitable[Sequence[Record]]]]] = {
    RecordKind.RELATION_TYPE: _each(lambda row: row.value),
    RecordKind.COUNTER: _each(lambda row: Counter(name=row.key, number=row.value)),
    RecordKind.MERGE: _each(lambda row: row),
    RecordKind.ENTITY: _entities,
    RecordKind.MEMORY: _memories,
    RecordKind.RELATION: _relations,
    RecordKind.DISTINCT: _each(lambda row: DistinctPair(low_id=row.key[0], high_id=row.key[1])),
    RecordKind.LINK: _each(lambda row: row.value),
    RecordKind.COMMUNITY: _communities,
    RecordKind.SESSION: _each(lambda row: StoredSession(id=row.key, principal=row.value)),
    RecordKind.INJECTION: _each(lambda row: row.value),
}
