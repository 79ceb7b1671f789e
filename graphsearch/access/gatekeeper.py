"""The gatekeeper of one question: decides on columns of elements what may be seen, with as few requests as possible."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Final
from uuid import UUID

import numpy as np

from graphsearch._support.paging import pages
from graphsearch.access.decisions import (
    ALLOWED,
    DENIED,
    PARTIAL,
    Decided,
    Decider,
    ElementDecider,
    SignatureDecider,
    SignatureInterner,
    Verdicts,
    each_allowed,
)
from graphsearch.access.gate import BoundGate, StatisticsOf, resource_of
from graphsearch.access.visible_entities import VisibleEntities
from graphsearch.columns import Codes, Expansion, Keys, Mask, Rows
from graphsearch.columns.key_index import distinct
from graphsearch.model import Claim, ElementKind, Entity, Memory, Relation
from graphsearch.stores.graph import GraphStore

if TYPE_CHECKING:
    from graphsearch.access.visible_documents import DocumentCache, VisibleDocuments

_NO_CODES: Final = frozenset[int]()
_EXPLAINED: Final = 500
"""The most denied elements of a kind whose policies are counted."""
_BATCH: Final = 64
"""Elements explained between two turns of the event loop."""


class Gatekeeper:
    """Queries a gate on behalf of one question, inside one snapshot. A gate that allows everything costs nothing.

    ``allows_all``: whether the gate is known to allow every element of the scope, though it may deny others.
    """

    def __init__(
        self,
        store: GraphStore,
        gate: BoundGate,
        book: SignatureInterner,
        cache: DocumentCache | None = None,
        *,
        allows_all: bool = False,
    ) -> None:
        self.hides = not gate.allows_all
        """Whether anything may be hidden."""
        self.allows_all = allows_all or gate.allows_all
        """Whether nothing is hidden in the scope as it is."""
        self._store = store
        self.gate = gate
        self.book = book
        self.cache = cache
        kind = SignatureDecider if gate.by_signature else ElementDecider
        self._decider: Decider = kind(store, gate, book)
        self.entities = VisibleEntities(store, gate, self._decider, allows_all=self.allows_all)
        self.documents: dict[ElementKind, VisibleDocuments] = {}
        """The texts of the visible, as far as the question has read them."""
        self._denied_keys = defaultdict[ElementKind, list[Keys]](list)

    @property
    def counts_visible(self) -> bool:
        """Whether statistics cover the visible alone; where nothing is hidden, those of the scope do."""
        return self.hides and self.gate.statistics is StatisticsOf.VISIBLE

    @property
    def denied(self) -> Mapping[ElementKind, int]:
        """The number of distinct elements denied so far, by kind."""
        if self.gate.policies.allows_all:  # what was not known yet was denied by nobody
            return dict.fromkeys(ElementKind, 0)
        counts = {kind: len(np.unique(np.concatenate(columns))) for kind, columns in self._denied_keys.items()}
        return {kind: counts.get(kind, 0) for kind in ElementKind}

    async def denied_by(self) -> Mapping[str, int]:
        """How many of the first denied elements each policy hides, by itself or by the memories that they rest on."""
        counts, store = Counter[str](), self._store
        for kind, columns in self._denied_keys.items() if self.gate.policies.explains else ():
            keys = np.unique(np.concatenate(columns))[:_EXPLAINED]
            read = store.get_memories(keys.tolist()) if kind is ElementKind.MEMORY else store.elements(kind, keys)
            found: Sequence[Entity | Relation | Memory] = await read
            own = dict(zip((each.id for each in found), await self._reasons(found), strict=True))
            proofs: dict[UUID, tuple[str, ...]] = {}
            proofs |= {each.id: each.evidence for each in found if isinstance(each, Relation) and not own[each.id]}
            named = [each.id for each in found if isinstance(each, Entity) and not own[each.id]]
            for mention in await store.list_mentions(entity_ids=named) if named else ():
                proofs[mention.entity_id] = (*proofs.get(mention.entity_id, ()), mention.memory_id)
            memories = await store.get_memories(sorted(set(chain.from_iterable(proofs.values()))))
            hiding = dict(zip((each.id for each in memories), await self._reasons(memories), strict=True))
            for id_, policies in own.items():
                resting = proofs.get(id_, ()) if isinstance(id_, UUID) else ()
                counts.update(policies or {name for memory in resting for name in hiding.get(memory, ())})
        return counts

    async def _reasons(self, elements: Sequence[Entity | Relation | Memory]) -> Sequence[Sequence[str]]:
        """The policies that deny each element by itself."""
        reasons: list[Sequence[str]] = []
        for start in range(0, len(elements), _BATCH):
            await asyncio.sleep(0)
            resources = [resource_of(each) for each in elements[start : start + _BATCH]]
            reasons += self.gate.policies.reasons(resources) or [()] * len(resources)
        return reasons

    async def verdicts(self, kind: ElementKind, keys: Keys, signatures: Codes) -> Verdicts:
        """The verdict on each element; a relation with evidence needs at least one visible memory."""
        (rows,) = await self.book.rows(signatures)
        verdicts = await self._verdicts(kind, keys, rows)
        return each_allowed(len(keys)) if verdicts is None else verdicts

    async def admitted(self, kind: ElementKind, keys: Keys, signatures: Codes) -> Mask | None:
        """Which elements may be seen; None if all of them may."""
        (rows,) = await self.book.rows(signatures)
        verdicts = await self._verdicts(kind, keys, rows)
        return None if verdicts is None or verdicts.all() else verdicts != DENIED

    async def steps(self, found: Expansion) -> Decided:
        """The verdict on each row of an expansion: that on the relation, denied if its far end is denied."""
        signatures, end_signatures = await self.book.rows(found.signatures, found.ends.signatures)
        if self.allows_all or self._decider.allows_all:
            return Decided(found, signatures, None)
        verdicts = await self._verdicts(ElementKind.RELATION, found.relations, signatures)
        if verdicts is None:
            verdicts = each_allowed(len(found))
        (shown,) = verdicts.nonzero()  # the far ends of denied relations are not decided
        met, which = distinct(found.end.take(shown))
        ends = await self._verdicts(ElementKind.ENTITY, found.ends.keys.take(met), end_signatures.take(met))
        if ends is not None:  # an entity that is shown with another name does not change what the relation states
            allowed = np.where(ends == DENIED, DENIED, ALLOWED)
            verdicts[shown] = np.minimum(verdicts[shown], allowed.take(which))
        return Decided(found, signatures, None if (verdicts == ALLOWED).all() else verdicts)

    async def refolded(self) -> frozenset[int]:
        """Codes of signatures whose relations may differ when folded from visible memories alone."""
        if self.allows_all or self.book.table.shares_none:
            return _NO_CODES
        codes = await self._store.signature_codes(shared=True)
        (rows,) = await self.book.rows(codes)
        return frozenset(codes[await self._decider.partial(rows)].tolist())

    async def sees_everything(self, *, reads: bool) -> bool:
        """Whether all elements of the scope may be seen; where signatures do not show it, only if it ``reads`` all."""
        if self.allows_all:
            return True
        if not self.gate.by_signature:
            return reads and await self._sees_each()
        (rows,) = await self.book.rows(await self._store.signature_codes(shared=False))
        verdicts = await self._decider.verdicts(ElementKind.ENTITY, rows, rows)
        return verdicts is None or bool((verdicts == ALLOWED).all())

    async def _sees_each(self) -> bool:
        for listed in (self._store.list_memories, self._store.list_entities, self._store.list_relations):
            async for page in pages(listed):
                if not all(await self.gate.permits([resource_of(each) for each in page])):
                    return False
        return True

    async def _verdicts(self, kind: ElementKind, keys: Keys, signatures: Rows) -> Verdicts | None:
        if self.allows_all:
            return None
        verdicts = await self._decider.verdicts(kind, keys, signatures)
        if kind is ElementKind.ENTITY and verdicts is not None:
            verdicts = await self._as_visible(keys, signatures, verdicts)
        if verdicts is not None and not verdicts.all():
            denied = keys[verdicts == DENIED]
            if kind is ElementKind.MEMORY:  # ids, as in `visible_memories`, since both may deny the same memory
                denied = np.array(self._store.memory_ids(denied), dtype=np.object_)
            self._denied_keys[kind].append(denied)
        return verdicts

    async def _as_visible(self, keys: Keys, signatures: Rows, verdicts: Verdicts) -> Verdicts:
        """The verdicts on entities; those that hidden memories may have named or typed are decided as shown."""
        partial = verdicts == PARTIAL
        self.entities.met(self._store.entity_ids(keys[partial]))
        if self.gate.by_signature:  # an entity of a given type is denied or not, whatever its name
            partial &= self.book.table.typed.take(signatures)
        if not partial.any():
            return verdicts
        ids = self._store.entity_ids(keys[partial])
        shown = {each.id for each in await self.entities.shown(await self._store.get_entities(ids))}
        decided = verdicts.copy()
        decided[partial] = [PARTIAL if id_ in shown else DENIED for id_ in ids]
        return decided

    async def permits_memory(self, memory: Memory) -> bool:
        """Whether policies permit a memory, whether it was known or not."""
        policies = self.gate.policies
        return policies.allows_all or all(await policies.permits([resource_of(memory)]))

    async def admits(self, elements: Sequence[Relation | Memory]) -> Sequence[bool]:
        """Whether each single element is permitted, regardless of its evidence and its ends."""
        return await self.gate.permits([resource_of(element) for element in elements])

    async def admitted_claims(self, claims: Sequence[Claim]) -> list[Claim]:
        """The claims whose relations are permitted by their types and, where policies read them, by their ends."""
        ends = "" if self.gate.by_signature else "source_id target_id"
        keys = [tuple(getattr(each, name) for name in f"type kind {ends}".split()) for each in claims]
        stated = {
            key: Relation(source_id=each.source_id, type=each.type, target_id=each.target_id, kind=each.kind)
            for key, each in zip(keys, claims, strict=True)
        }
        permitted = dict(zip(stated, await self.admits(list(stated.values())), strict=True))
        return [each for key, each in zip(keys, claims, strict=True) if permitted[key]]

    async def visible_memories(self, ids: Sequence[str]) -> set[str]:
        """The visible ones of some memories; behind a gate, only those that exist."""
        if not ids or self.allows_all:
            return set(ids)
        permitted = await self._decider.memories(ids)
        denied = [id_ for id_, allow in permitted.items() if not allow]
        self._denied_keys[ElementKind.MEMORY].append(np.array(denied, dtype=np.object_))
        return {id_ for id_, allow in permitted.items() if allow}
