"""Records entered into the draft of a state, which derives from them what a store keeps besides."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch.model import Community, ElementKind, ElementRef, Injection, MemoryLink, RelationType
from graphsearch.model.signatures import Signature, entity_signature, memory_signature, relation_signature
from graphsearch.model.stored import (
    Attestation,
    Counter,
    DistinctPair,
    Record,
    StoredEntity,
    StoredMemory,
    StoredMerge,
    StoredOutcome,
    StoredRelation,
    StoredSession,
)
from graphsearch.stores.in_memory.folding import replace_proof
from graphsearch.stores.in_memory.state import Draft
from graphsearch.stores.shared.loading import attested
from graphsearch.stores.shared.merging import Record as MergeRecord

_GONE: Final = 0
"""The code of signatures that do not exist any more; the state has none by this code."""


class Loading:
    """Enters records into the draft of an empty state, kind by kind."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._codes: dict[int, int] = {}
        """Codes in the draft by those that signatures have everywhere."""
        self._unsigned: list[tuple[UUID, Attestation]] = []
        self._enter: Mapping[type, Callable[[Any], None]] = {
            RelationType: lambda each: draft.types.set(each.name, each),
            Counter: lambda each: draft.counters.set(each.name, each.number),
            StoredMerge: self._merge,
            StoredEntity: self._entity,
            StoredMemory: self._memory,
            StoredRelation: self._relation,
            DistinctPair: self._pair,
            MemoryLink: self._link,
            Community: draft.put_community,
            StoredSession: lambda each: draft.owners.set(each.id, each.principal),
            Injection: lambda each: draft.injections.set(each.id, each),
        }
        draft.reserve_codes(_GONE + 1)

    def page(self, records: Sequence[Record]) -> Generator[None, None, None]:
        """Enter records of one kind, in steps."""
        if isinstance(records[0], StoredRelation):
            yield from self.sign_entities()
        enter = self._enter[type(records[0])]
        for record in records:
            enter(record)
            yield

    def sign_entities(self) -> Generator[None, None, None]:
        """Sign the entities entered, those first whose signatures others name. In steps."""
        for key, attestation in sorted(self._unsigned, key=lambda each: bool(each[1].evidence or each[1].influences)):
            entity = self._draft.entities.items[key]
            self._sign(ElementKind.ENTITY, key, attested(entity_signature(entity), attestation))
            yield
        self._unsigned = []

    def _sign(self, kind: ElementKind, key: UUID | str, signature: Signature) -> None:
        """Sign an element; ``signature`` names others by the codes that these have everywhere."""
        own = attrs.evolve(
            signature, evidence=self._own(signature.evidence), influences=self._own(signature.influences)
        )
        self._draft.sign(self._draft.of_kind[kind], key, own)
        self._codes[signature.code] = self._draft.of_kind[kind].codes[key]

    def _own(self, codes: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(self._codes.get(code, _GONE) for code in codes))

    def _learnt(self, kind: ElementKind, key: UUID | str, weight: float, outcomes: Iterable[StoredOutcome]) -> None:
        past = {each.session_id: (each.seq, each.outcome) for each in outcomes}
        if past:
            self._draft.history.set(ElementRef(kind, str(key)), past)
            self._draft.of_kind[kind].weights.set(key, weight)

    def _entity(self, record: StoredEntity) -> None:
        draft, entity = self._draft, record.entity
        given = attrs.evolve(entity, type=record.given_type, aliases=record.given_aliases)
        draft.naming.give(given, named=record.named)
        draft.entities.put(entity)
        if record.words:
            draft.entities.put_words(entity.id, record.words)
        if record.vector is not None:
            draft.entities.vectors.set(entity.id, record.vector)
        self._learnt(ElementKind.ENTITY, entity.id, entity.feedback_weight, record.outcomes)
        self._unsigned.append((entity.id, record.attestation))

    def _memory(self, record: StoredMemory) -> None:
        draft, memory = self._draft, record.memory
        draft.memories.put(memory)
        self._sign(ElementKind.MEMORY, memory.id, memory_signature(memory))
        replace_proof(draft, memory.id, record.mentions, record.claims)
        if record.merges:
            draft.merging.proved.set(memory.id, record.merges)
        if record.vector is not None:
            draft.memories.vectors.set(memory.id, record.vector)
        self._learnt(ElementKind.MEMORY, memory.id, memory.feedback_weight, record.outcomes)

    def _relation(self, record: StoredRelation) -> None:
        draft, relation = self._draft, record.relation
        draft.relations.put(relation)
        for memory in relation.evidence:
            draft.proved.add(memory, relation.id)
        self._sign(ElementKind.RELATION, relation.id, attested(relation_signature(relation, ()), record.attestation))
        if record.given_ends is not None:
            draft.merging.ends.set(relation.id, record.given_ends)
        if record.lapsed_at is not None:
            draft.merging.revived.set(relation.id, record.lapsed_at)
        if record.vector is not None:
            draft.relations.vectors.set(relation.id, record.vector)
        self._learnt(ElementKind.RELATION, relation.id, relation.feedback_weight, record.outcomes)

    def _merge(self, record: StoredMerge) -> None:
        merge = record.merge
        self._draft.merging.records.set(merge.id, MergeRecord(merge, record.number, record.held))
        if merge.undone_at is None:
            self._draft.merging.join(merge.source_id, merge.target_id)

    def _pair(self, record: DistinctPair) -> None:
        self._draft.distinct.add(record.low_id, record.high_id)
        self._draft.distinct.add(record.high_id, record.low_id)

    def _link(self, record: MemoryLink) -> None:
        self._draft.links.add(record.from_id, record)
        self._draft.links.add(record.to_id, record)
