"""Records as the whole content of a scope: checked page by page, and put as rows of every kind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.errors import OccupiedScopeError
from graphsearch.model import KNOWN_RELATION_TYPES, Community, ElementKind, Injection, MemoryLink, RelationType
from graphsearch.model.signatures import Signature, entity_signature, memory_signature, relation_signature
from graphsearch.model.stored import (
    NOT_ATTESTED,
    Attestation,
    Counter,
    DistinctPair,
    Record,
    ScopeSettings,
    StoredEntity,
    StoredMemory,
    StoredMerge,
    StoredRelation,
    StoredSession,
    key_of,
)
from graphsearch.protocols.rows import ClaimRow, EntityRow, Entry, MemoryRow, MentionRow, Port, RelationRow
from graphsearch.stores.writer.checking import LoadCheck
from graphsearch.stores.writer.communities import rows_of
from graphsearch.stores.writer.work import code_of

_OCCUPYING: Final = ("entity", "memory", "session", "merge", "proposal")
"""The kinds of rows one of which makes a scope one that holds something."""


async def load(
    port: Port, settings: ScopeSettings, pages: AsyncIterable[Sequence[Record]], *, replace: bool = False
) -> None:
    """Load records as the whole content of the scope (`GraphStore.load`)."""
    for kind in () if replace else _OCCUPYING:
        if await port.page(kind, limit=1):
            raise OccupiedScopeError
    await port.clear()
    scope, loading = port.scope, Loading(LoadCheck(settings))
    scope.id_key = settings.id_key or scope.id_key
    scope.alpha, scope.merges = settings.alpha, settings.merges
    scope.embedder, scope.dimensions = settings.embedder, settings.dimensions
    scope.next_embedder = scope.next_dimensions = None
    scope.types, scope.health, scope.summarised = dict(KNOWN_RELATION_TYPES), (), False
    async for page in pages:
        if page:
            for kind, rows in (await asyncio.to_thread(loading.page, page)).items():
                await port.put(kind, rows, {})
                if kind == "type":
                    scope.types.update((row.key, row.value) for row in rows)
                scope.summarised |= kind == "community" and any(row.summary for row in rows)
    await asyncio.to_thread(loading.check.finish)
    await port.finish(loading.signatures)


@attrs.define(eq=False)
class Loading:
    """Makes rows of the records of one load, page by page, and the signatures of all of them."""

    check: LoadCheck
    signatures: dict[int, Signature] = attrs.field(factory=dict)
    """By code."""
    _codes: dict[Any, int] = attrs.field(factory=dict)
    """By what the signature of an element without attributes is made of: thousands share a handful."""

    def page(self, records: Sequence[Record]) -> Mapping[str, list[Any]]:
        """The rows of a page of records by kind, after it was checked: elements before what belongs to them."""
        self.check.page(records)
        found: dict[str, list[Any]] = {}
        make = _ROWS[type(records[0])]
        for record in records:
            for kind, row in make(self, record):
                found.setdefault(kind, []).append(row)
        return found

    def entity(self, record: StoredEntity) -> Iterator[tuple[str, Any]]:
        """An entity with its words."""
        entity = record.entity
        code = self._code(ElementKind.ENTITY, entity, record.attestation)
        if record.words:  # before the entity, whose document has them
            yield "words", Entry(entity.id, record.words)
        yield "entity", EntityRow(entity, record.given_type, record.given_aliases, record.named, code)
        yield from _belonging(ElementKind.ENTITY, entity.id, record)

    def memory(self, record: StoredMemory) -> Iterator[tuple[str, Any]]:
        """A memory with its mentions and claims, between the entities that are meant after merges."""
        memory, root = record.memory, self.check.tree.root
        code = self._code(ElementKind.MEMORY, memory, NOT_ATTESTED)
        yield "memory", MemoryRow(memory, record.merges, code)
        yield from _belonging(ElementKind.MEMORY, memory.id, record)
        for at, mention in enumerate(dict.fromkeys(record.mentions)):
            meant = root(mention.entity_id)
            yield "mention", MentionRow(mention, meant, at, memory.created_at, memory.occurred_at, code)
        for at, claim in enumerate(dict.fromkeys(record.claims)):
            ends = (root(claim.source_id), root(claim.target_id))
            yield "claim", ClaimRow(claim, ends, at, memory.occurred_at, code)

    def relation(self, record: StoredRelation) -> Iterator[tuple[str, Any]]:
        """A relation."""
        relation = record.relation
        code = self._code(ElementKind.RELATION, relation, record.attestation)
        yield "relation", RelationRow(relation, record.folded, record.given_ends, record.lapsed_at, code)
        yield from _belonging(ElementKind.RELATION, relation.id, record)

    def _code(self, kind: ElementKind, element: Any, attestation: Attestation) -> int:
        """The code of the signature of an element that names the codes of its record."""
        owned = "" if kind is not ElementKind.MEMORY else element.source
        alike = (kind, owned or getattr(element, "type", ""), element.labels, attestation)
        if not element.attributes and (known := self._codes.get(alike)) is not None:
            return known
        named = {field.name: getattr(attestation, field.name) for field in attrs.fields(Attestation)}
        signature = attrs.evolve(_SIGNED[kind](element), **named)
        code = code_of(signature)
        self.signatures[code] = signature
        if not element.attributes:
            self._codes[alike] = code
        return code


def _belonging(kind: ElementKind, key: UUID | str, record: Any) -> Iterator[tuple[str, Any]]:
    """The vector and the outcomes of an element."""
    if record.vector is not None:
        yield f"{kind}_vector", Entry(key, record.vector)
    for each in record.outcomes:
        yield "outcome", Entry((str(kind), str(key), each.session_id), each)


def _entry(kind: str, key: Any, value: Any) -> Iterable[tuple[str, Any]]:
    return ((kind, Entry(key, value)),)


_SIGNED: Final[Mapping[ElementKind, Any]] = {
    ElementKind.ENTITY: entity_signature,
    ElementKind.MEMORY: memory_signature,
    ElementKind.RELATION: lambda relation: relation_signature(relation, ()),
}
_ROWS: Final[Mapping[type, Any]] = {
    RelationType: lambda _, each: _entry("type", each.name, each),
    Counter: lambda _, each: _entry("counter", each.name, each.number),
    StoredMerge: lambda _, each: (("merge", each),),
    StoredEntity: Loading.entity,
    StoredMemory: Loading.memory,
    StoredRelation: Loading.relation,
    DistinctPair: lambda _, each: _entry("distinct", (each.low_id, each.high_id), None),
    MemoryLink: lambda _, each: _entry("link", key_of(each), each),
    Community: lambda _, each: rows_of(each),
    StoredSession: lambda _, each: _entry("session", each.id, each.principal),
    Injection: lambda _, each: _entry("injection", each.id, each),
}
"""The rows of each kind of record, by kind of row."""
