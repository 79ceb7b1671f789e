"""What is checked of records before they are loaded: their order, and that what they refer to is there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final
from uuid import UUID

import attrs

from graphsearch.errors import RecordError
from graphsearch.model import Community, Injection, MemoryLink
from graphsearch.model.signatures import memory_signature
from graphsearch.model.stored import (
    KIND_OF,
    UNKNOWN_CODE,
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
from graphsearch.stores.writer.folding import code_of

_ORDER: Final[Mapping[RecordKind, int]] = {kind: place for place, kind in enumerate(RecordKind)}
_ENTITY, _MEMORY, _RELATION = RecordKind.ENTITY, RecordKind.MEMORY, RecordKind.RELATION

_Reference = tuple[int, RecordKind, UUID | Key]
"""The place of a record, and what it refers to."""


@attrs.define(eq=False)
class LoadCheck:
    """Checks the records of one load, page by page."""

    settings: ScopeSettings
    _into: dict[UUID, UUID] = attrs.field(factory=dict)
    """The target of each merged entity; complete when the first record of another kind than merges has come."""
    _place: int = 0
    _last: tuple[int, Key] = (-1, ())
    _known: dict[RecordKind, set[int]] = attrs.field(factory=lambda: {kind: set() for kind in RecordKind})
    """Hashes of the keys of what has come: a load may be of millions of records."""
    _signed: dict[int, int] = attrs.field(factory=dict)
    """The signature code of each memory, by the hash of its key."""
    _later: list[_Reference] = attrs.field(factory=list)
    """References to entities, from records that come before all entities."""
    _in_community: set[int] = attrs.field(factory=set)

    def page(self, records: Sequence[Record]) -> None:
        """Check a page of records of one kind. Raises `RecordError`."""
        kind = KIND_OF[type(records[0])]
        if _ORDER[kind] > _ORDER[_ENTITY]:
            self.finish()
        references: list[_Reference] = []
        for place, record in enumerate(records, self._place):
            here = (_ORDER[KIND_OF[type(record)]], key_of(record))
            if here <= self._last:
                out = "out of order: records are sorted by kind and key"
                raise RecordError(place, KIND_OF[type(record)], [f"is {'there twice' if here == self._last else out}"])
            self._last = here
            if faults := list(self._faults(record)):
                raise RecordError(place, kind, faults)
            references += ((place, *each) for each in _references(record))
            mark = _mark(_own(record))
            self._known[kind].add(mark)
            if isinstance(record, StoredMemory):
                self._signed[mark] = code_of(memory_signature(record.memory))
        if kind in {RecordKind.MERGE, _ENTITY}:
            self._later += references
        else:
            self._demand(references)
            self._demand_signatures([each for each in records if isinstance(each, StoredRelation)])
        self._place += len(records)

    def finish(self) -> None:
        """Check what can be known at the end alone. Raises `RecordError`."""
        self._demand(self._later)
        self._later = []

    def root(self, key: UUID) -> UUID:
        """The entity that one was finally merged into; itself if it was not merged."""
        while (above := self._into.get(key)) is not None:
            key = above
        return key

    def _demand(self, references: Sequence[_Reference]) -> None:
        for place, kind, key in references:
            if _mark(key) not in self._known[kind]:
                shown = key if isinstance(key, UUID) else " of ".join(map(repr, key))
                raise RecordError(place, "record", [f"refers to the {kind} {shown}, which is not there"])

    def _demand_signatures(self, relations: Sequence[StoredRelation]) -> None:
        """A gate decides on a relation by its signature, so that it must name the evidence which the relation has."""
        for place, record in enumerate(relations, self._place):
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
        if source in self._into:
            yield f"merges {source} a second time"
        elif self.root(target) == source:
            yield f"merges {source} into itself"
        else:
            self._into[source] = target


def _mark(key: UUID | Key) -> int:
    return hash(key.bytes if isinstance(key, UUID) else key)  # of bytes and texts, which nobody can foresee


def _own(record: Record) -> UUID | Key:
    """What others refer to a record by: an injection to a session with its principal."""
    if isinstance(record, StoredEntity):
        return record.entity.id
    return (record.id, record.principal) if isinstance(record, StoredSession) else key_of(record)


def _references(record: Record) -> Iterator[tuple[RecordKind, UUID | Key]]:
    """What a record refers to."""
    match record:
        case StoredMemory():
            yield from ((_ENTITY, each.entity_id) for each in record.mentions)
            yield from ((_ENTITY, end) for each in record.claims for end in (each.source_id, each.target_id))
        case StoredRelation(relation=relation):
            ends = (relation.source_id, relation.target_id, *(record.given_ends or ()))
            yield from ((_ENTITY, end) for end in ends)
            yield from ((_MEMORY, (key,)) for key in relation.evidence)
        case StoredMerge(merge=merge):
            yield from ((_ENTITY, end) for end in (merge.source_id, merge.target_id))
        case StoredEntity(entity=entity) if entity.merged_into is not None:
            yield _ENTITY, entity.merged_into
        case DistinctPair():
            yield from ((_ENTITY, key) for key in (record.low_id, record.high_id))
        case Community():
            yield from ((_ENTITY, key) for key in record.members)
        case MemoryLink():
            yield from ((_MEMORY, (key,)) for key in (record.from_id, record.to_id))
        case Injection():
            yield RecordKind.SESSION, (record.session_id, record.principal)
        case _:
            pass
