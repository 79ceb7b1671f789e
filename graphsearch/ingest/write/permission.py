"""Permission for the changes of an ingest, requested before anything is written.

Memories, entities and relations are checked as they would be written and, if they are stored, also as they are.
Derived data is not checked: vectors and counters, and the aliases and the type that mentions give to an entity.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar
from uuid import UUID

import attrs

from graphsearch.access.gate import Gate, resource_of
from graphsearch.claims.folding import DatedClaim, fold, group_of, type_named
from graphsearch.ingest.write.ledger import is_changed, or_nothing
from graphsearch.model import (
    KNOWN_RELATION_TYPES,
    Action,
    Batch,
    Entity,
    Group,
    Memory,
    Relation,
    RelationType,
)
from graphsearch.stores.graph import GraphStore

Element = TypeVar("Element", Entity, Relation, Memory)


@attrs.define(eq=False)
class Permission:
    """The permission of a gate's principal to change one store, for one ingest.

    Each method raises `AccessDeniedError` unless all of its elements are allowed. For a gate that allows everything,
    nothing is read.
    """

    store: GraphStore
    gate: Gate
    _granted: set[str] = attrs.field(factory=set)
    """Ids of the memories that may be written."""

    async def to_read(self, memories: Sequence[Memory]) -> None:
        """Check memories before extraction, so that no extraction is paid for in vain."""
        await self.to_begin(memories)
        self._granted.update(memory.id for memory in memories)

    async def to_begin(self, memories: Sequence[Memory]) -> None:
        """Check memories as far as they are known before anything in them is read; they are checked again later."""
        if not self.gate.allows_all:
            await self.demand(Action.WRITE, await self._changed(memories))

    async def to_describe(self, entities: Sequence[Entity], stored: Mapping[UUID, Entity]) -> None:
        """Check entities to be written; ``stored`` has those that exist."""
        await self.demand(Action.WRITE, _before_and_after(entities, stored))

    async def to_write(self, batch: Batch, stored: Mapping[UUID, Entity]) -> None:
        """Check the memories, claims and named entities of a batch; ``stored`` has the entities that exist.

        Memories, claims and entities that are stored unchanged are not checked.
        """
        if self.gate.allows_all:
            return
        memories = await self._changed([each for each in batch.memories if each.id not in self._granted])
        named = [entity for entity in batch.named if entity != stored.get(entity.id)]
        relations = await self._refolded(batch)
        await self.demand(Action.WRITE, [*memories, *_before_and_after(named, stored), *relations])

    async def to_forget(self, memory_ids: Sequence[str]) -> None:
        """Check memories to be forgotten."""
        if not self.gate.allows_all:
            await self.demand(Action.FORGET, await or_nothing(self.store.get_memories(memory_ids)))

    async def removable(self, entities: Sequence[Entity]) -> list[Entity]:
        """The entities that may be removed."""
        bound = self.gate.bind(self.store.scope, Action.FORGET)
        if bound.allows_all:
            return list(entities)
        answers = await bound.permits([resource_of(each) for each in entities])
        return [entity for entity, answer in zip(entities, answers, strict=True) if answer]

    async def demand(self, action: Action, elements: Iterable[Entity | Relation | Memory]) -> None:
        """Check elements as they are."""
        await self.gate.bind(self.store.scope, action).demand(elements)

    async def _changed(self, memories: Sequence[Memory]) -> list[Memory]:
        """The memories that are new or changed, and the stored ones that these replace."""
        found = await or_nothing(self.store.get_memories([each.id for each in memories]))
        stored = {each.id: each for each in found}
        return _before_and_after([each for each in memories if is_changed(each, stored.get(each.id))], stored)

    async def _refolded(self, batch: Batch) -> list[Relation]:
        """The relations that the claims of a batch create, change or retract; as stored, if they exist."""
        occurred = {memory.id: memory.occurred_at for memory in batch.memories}
        replaced = await or_nothing(self.store.list_claims(memory_ids=list(occurred)))
        if not (batch.claims or replaced):
            return []
        types = dict(await or_nothing(self.store.relation_types()) or KNOWN_RELATION_TYPES)
        groups = {group_of(claim, types) for claim in (*batch.claims, *replaced)}
        claims = await or_nothing(self.store.list_claims(groups=list(groups)))
        known = await or_nothing(self.store.get_memories(sorted({claim.memory_id for claim in claims})))
        dates = {memory.id: memory.occurred_at for memory in known}
        before = [DatedClaim(claim, dates.get(claim.memory_id)) for claim in claims]
        after = [
            *(dated for dated in before if dated.claim.memory_id not in occurred),
            *(DatedClaim(claim, occurred.get(claim.memory_id)) for claim in batch.claims),
        ]
        relations = {each.id: each for each in _folded(before, types) ^ _folded(after, types)}
        stored = {each.id: each for each in await or_nothing(self.store.get_relations(sorted(relations)))}
        return [stored.get(id_, relation) for id_, relation in relations.items()]


def _folded(claims: Iterable[DatedClaim], types: Mapping[str, RelationType]) -> set[Relation]:
    """The relations that claims of any groups fold into."""
    groups: defaultdict[Group, list[DatedClaim]] = defaultdict(list)
    for dated in claims:
        groups[group_of(dated.claim, types)].append(dated)
    return {relation for group, dated in groups.items() for relation in fold(dated, type_named(group[1], types))}


def _before_and_after(elements: Sequence[Element], stored: Mapping[Any, Element]) -> list[Element]:
    """Elements as they would be written, and as they are stored."""
    return list(elements) + [stored[each.id] for each in elements if each.id in stored]
