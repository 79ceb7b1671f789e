"""Records as the whole content of a scope: checked page by page, and put as rows of every kind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.errors import OccupiedScopeError, RecordError
from graphsearch.model import KNOWN_RELATION_TYPES, Community, ElementKind, Injection, MemoryLink, RelationType
from graphsearch.model.signatures import Signature, entity_signature, memory_signature, relation_signature
from graphsearch.model.stored import (
    KIND_OF,
    NOT_ATTESTED,
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
    StoredMerge,
    StoredRelation,
    StoredSession,
    key_of,
)
from graphsearch.protocols.rows import ClaimRow, EntityRow, Entry, MemoryRow, MentionRow, Port, RelationRow
from graphsearch.stores.writer.communities import rows_of
from graphsearch.stores.writer.work import Tree, code_of

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


# -- rows ----------------------------------------------------------------------------------------------------------


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

# -- checks --------------------------------------------------------------------------------------------------------

_ORDER: Final[Mapping[RecordKind, int]] = {kind: place for place, kind in enumerate(RecordKind)}
_ENTITY, _MEMORY, _SESSION = RecordKind.ENTITY, RecordKind.MEMORY, RecordKind.SESSION
_RELATION: Final = RecordKind.RELATION


@attrs.define(eq=False)
class LoadCheck:
    """Checks the records of one load, page by page."""

    settings: ScopeSettings
    tree: Tree = attrs.field(factory=Tree)
    """Of merged entities; complete when the first record of another kind than merges has come."""
    _place: int = 0
    _last: tuple[int, Key] = (-1, ())
    _known: dict[RecordKind, set[int]] = attrs.field(factory=lambda: {_ENTITY: set(), _MEMORY: set(), _SESSION: set()})
    """Hashes of what has come and is referred to: a load may be of millions of records."""
    _signed: dict[int, int] = attrs.field(factory=dict)
    """The signature code of each memory, by the hash of its key."""
    _later: list[tuple[int, RecordKind, UUID | Key]] = attrs.field(factory=list)
    """References to entities, from records that come before all entities."""
    _in_community: set[int] = attrs.field(factory=set)

    def page(self, records: Sequence[Record]) -> None:
        """Check a page of records of one kind. Raises `RecordError`."""
        kind = KIND_OF[type(records[0])]
        if _ORDER[kind] > _ORDER[_ENTITY]:
            self.finish()
        references, is_later = _REFERENCES.get(type(records[0]), lambda _: ()), _ORDER[kind] <= _ORDER[_ENTITY]
        for place, record in enumerate(records, self._place):
            key = key_of(record)
            self._in_order(place, KIND_OF[type(record)], key)
            if faults := list(self._faults(record)):
                raise RecordError(place, kind, faults)
            if is_later:
                self._later += ((place, *each) for each in references(record))
            else:
                self._demand((place, *each) for each in references(record))
            if kind in self._known:
                own = _mark(_OWN[kind](record) if kind in _OWN else key)
                self._known[kind].add(own)
                if isinstance(record, StoredMemory):
                    self._signed[own] = code_of(memory_signature(record.memory))
            elif isinstance(record, StoredRelation):
                self._demand_signature(place, record)
        self._place += len(records)

    def finish(self) -> None:
        """Check what can be known at the end alone. Raises `RecordError`."""
        self._demand(self._later)
        self._later = []

    def _in_order(self, place: int, kind: RecordKind, key: Key) -> None:
        here = (_ORDER[kind], key)
        if here <= self._last:
            out = "out of order: records are sorted by kind and key"
            raise RecordError(place, kind, [f"is {'there twice' if here == self._last else out}"])
        self._last = here

    def _demand(self, references: Iterable[tuple[int, RecordKind, UUID | Key]]) -> None:
        for place, kind, key in references:
            if _mark(key) not in self._known[kind]:
                shown = key if isinstance(key, UUID) else " of ".join(map(repr, key))
                raise RecordError(place, "record", [f"refers to the {kind} {shown}, which is not there"])

    def _demand_signature(self, place: int, record: StoredRelation) -> None:
        """A gate decides on a relation by its signature, so that it must name the evidence which the relation has."""
        stated = set(record.attestation.evidence)
        held = {self._signed[_mark((key,))] for key in record.relation.evidence}
        if stated != held and not (UNKNOWN_CODE in stated and stated - {UNKNOWN_CODE} <= held):
            raise RecordError(place, _RELATION, ["has a signature that names other evidence than it has"])

    def _faults(self, record: Record) -> Iterator[str]:
        """What is wrong with a record in this scope."""
        if isinstance(record, (StoredEntity, StoredMemory, StoredRelation)) and record.vector is not None:
            if self.settings.dimensions is None:
                yield "has a vector, and the scope has no embedder"
            elif len(record.vector) != self.settings.dimensions:
                yield f"has a vector of {len(record.vector)} numbers, not of {self.settings.dimensions}"
        if isinstance(record, StoredMemory) and record.merges > self.settings.merges:
            yield f"knows {record.merges} merges, of {self.settings.merges}"
        if isinstance(record, StoredMerge):
            yield from self._merge_faults(record)
        if isinstance(record, Community):
            members = set(map(_mark, record.members))
            if not members.isdisjoint(self._in_community):
                yield "has a member that is in another community too"
            self._in_community |= members

    def _merge_faults(self, record: StoredMerge) -> Iterator[str]:
        if record.number > self.settings.merges:
            yield f"is number {record.number}, of {self.settings.merges}"
        if record.merge.undone_at is not None:
            return
        source, target = record.merge.source_id, record.merge.target_id
        if source in self.tree.into:
            yield f"merges {source} a second time"
        elif self.tree.root(target) == source:
            yield f"merges {source} into itself"
        else:
            self.tree.join(source, target)


def _mark(key: UUID | Key) -> int:
    return hash(key.bytes if isinstance(key, UUID) else key)  # of bytes and texts, which nobody can foresee


def _memory(record: StoredMemory) -> Iterator[tuple[RecordKind, UUID]]:
    for mention in record.mentions:
        yield _ENTITY, mention.entity_id
    for claim in record.claims:
        yield _ENTITY, claim.source_id
        yield _ENTITY, claim.target_id


def _relation(record: StoredRelation) -> Iterator[tuple[RecordKind, UUID | Key]]:
    for end in (record.relation.source_id, record.relation.target_id, *(record.given_ends or ())):
        yield _ENTITY, end
    for key in record.relation.evidence:
        yield _MEMORY, (key,)


_REFERENCES: Final[Mapping[type, Callable[[Any], Iterable[tuple[RecordKind, UUID | Key]]]]] = {
    StoredMerge: lambda each: [(_ENTITY, each.merge.source_id), (_ENTITY, each.merge.target_id)],
    StoredEntity: lambda each: [(_ENTITY, each.entity.merged_into)] if each.entity.merged_into else (),
    StoredMemory: _memory,
    StoredRelation: _relation,
    DistinctPair: lambda each: [(_ENTITY, each.low_id), (_ENTITY, each.high_id)],
    MemoryLink: lambda each: [(_MEMORY, (each.from_id,)), (_MEMORY, (each.to_id,))],
    Community: lambda each: [(_ENTITY, member) for member in each.members],
    Injection: lambda each: [(_SESSION, (each.session_id, each.principal))],
}
"""What records of each type refer to."""
_OWN: Final[Mapping[RecordKind, Callable[[Any], UUID | Key]]] = {
    _ENTITY: lambda record: record.entity.id,
    _SESSION: lambda record: (record.id, record.principal),
}
"""What others refer to a record by, where it is not its key: an injection to a session with its principal."""
