"""A scope in memory as records, and records as a scope in memory."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

import attrs

from graphsearch._support.concurrency import in_slices
from graphsearch.claims.folding import DatedClaim, fold, type_named
from graphsearch.errors import OccupiedScopeError
from graphsearch.model import ALPHA, KNOWN_RELATION_TYPES, ElementKind, ElementRef, Relation, validation
from graphsearch.model.signatures import Signature
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
    StoredMerge,
    StoredOutcome,
    StoredRelation,
    StoredSession,
    key_of,
)
from graphsearch.protocols import Moving
from graphsearch.stores.in_memory.base import InMemoryScope
from graphsearch.stores.in_memory.folding import GroupedClaims
from graphsearch.stores.in_memory.loading import Loading
from graphsearch.stores.in_memory.state import Draft, State
from graphsearch.stores.shared.loading import LoadCheck, refuse_other_analyser


class InMemoryMoving(InMemoryScope, Moving):
    """The state as records. A load is made on a draft of an empty state, which becomes the state at the end."""

    async def settings(self) -> ScopeSettings:
        state = self._state
        counts = {str(kind): len(_KINDS[kind][0](state)) for kind in RecordKind}
        counts["mentions"] = sum(map(len, state.mentions.values()))
        counts["claims"] = sum(map(len, state.claims.values()))
        counts["outcomes"] = sum(map(len, state.history.values()))
        return ScopeSettings(
            analyser=state.analyser.name,
            alpha=ALPHA,
            embedder=state.embedder,
            dimensions=state.dimensions,
            merges=state.merging.count,
            id_key=state.id_key,
            counts=counts,
            vectors={str(kind): len(state.elements(kind).vectors) for kind in ElementKind},
        )

    async def records(self, kind: RecordKind, *, after: Key | None = None, limit: int = 1_000) -> Sequence[Record]:
        validation.refuse("page", validation.number("limit", limit, 0))
        state = self._state
        keys = await self._once(_sorted_keys, kind)
        start = 0 if after is None else bisect_right(keys, after, key=_order_of(kind))
        build = _KINDS[kind][1]
        return [build(state, key) for key in keys[start : start + limit]]

    async def load(
        self, settings: ScopeSettings, pages: AsyncIterable[Sequence[Record]], *, replace: bool = False
    ) -> None:
        refuse_other_analyser(settings, self.analyser.name)
        only = f"alpha must be {ALPHA} in this store, not {settings.alpha}"
        validation.refuse("settings", None if settings.alpha == ALPHA else only)
        async with self._writing():
            if self._cell.state is not None and not replace and _occupied(self._cell.state):
                raise OccupiedScopeError
            draft = Draft(State(analyser=self.analyser, id_key=settings.id_key or self._cell.id_key))
            draft.embedder, draft.dimensions = settings.embedder, settings.dimensions
            check, loading = LoadCheck(settings), Loading(draft)
            draft.merging.count = settings.merges
            async for page in pages:
                if page:
                    await asyncio.to_thread(check.page, page)
                    await in_slices(loading.page(page))
            await asyncio.to_thread(check.finish)
            await in_slices(loading.sign_entities())
            self._cell.state = await in_slices(draft.finished())


def _occupied(state: State) -> bool:
    """Whether a scope holds anything apart from its embedder, its types and its counters."""
    elements = (state.elements(kind).items for kind in ElementKind)
    return any((*elements, state.owners, state.merging.records, state.proposals))


# -- reading ------------------------------------------------------------------------------------------------------


def _sorted_keys(state: State, kind: RecordKind) -> Sequence[Any]:
    return sorted(_KINDS[kind][0](state))


def _order_of(kind: RecordKind) -> Callable[[Any], Key]:
    """The key of a record from what the state finds it by."""
    if kind is RecordKind.MERGE:
        return lambda number: (f"{number:010d}",)
    return lambda key: tuple(map(str, key)) if isinstance(key, tuple) else (str(key),)


def _links(state: State) -> Collection[Any]:
    return {key_of(link) for links in state.links.values() for link in links}


def _pairs(state: State) -> Collection[Any]:
    return {(key, other) for key, others in state.distinct.items() for other in others if key < other}


def _outcomes(state: State, kind: ElementKind, key: UUID | str) -> list[StoredOutcome]:
    past = state.history.get(ElementRef(kind, str(key)), {})
    found = (StoredOutcome(session_id=session, seq=seq, outcome=outcome) for session, (seq, outcome) in past.items())
    return sorted(found, key=lambda each: each.seq)


def _entity(state: State, key: UUID) -> StoredEntity:
    [entity] = state.entities.those([key])
    return StoredEntity(
        entity=entity,
        given_type=state.naming.named.get(key, entity.type),
        given_aliases=state.naming.given.get(key, ()),
        named=key in state.naming.named,
        words=state.entities.words.get(key, {}),
        attestation=_attestation(state, state.entities.codes[key]),
        outcomes=_outcomes(state, ElementKind.ENTITY, key),
        vector=state.entities.vectors.get(key),
    )


def _memory(state: State, key: str) -> StoredMemory:
    [memory] = state.memories.those([key])
    original = state.merging.originals.get(key)
    return StoredMemory(
        memory=memory,
        mentions=original.mentions if original else state.mentions.get(key, ()),
        claims=original.claims if original else state.claims.get(key, ()),
        merges=state.merging.proved.get(key, 0),
        outcomes=_outcomes(state, ElementKind.MEMORY, key),
        vector=state.memories.vectors.get(key),
    )


def _relation(state: State, key: UUID) -> StoredRelation:
    [relation] = state.relations.those([key])
    return StoredRelation(
        relation=relation,
        folded=relation.retracted_at is None and key in state.once(_folded),
        given_ends=state.merging.ends.get(key),
        lapsed_at=state.merging.revived.get(key),
        attestation=_attestation(state, state.relations.codes[key]),
        outcomes=_outcomes(state, ElementKind.RELATION, key),
        vector=state.relations.vectors.get(key),
    )


def _folded(state: State) -> frozenset[UUID]:
    """The relations that claims give."""
    grouped = GroupedClaims(state.claims, state.merging.originals, state.types)
    memories = state.memories.items

    def of(claims: Iterable[Any]) -> list[DatedClaim]:
        return [DatedClaim(claim, memories[claim.memory_id].occurred_at) for claim in claims]

    relations: Iterable[Relation] = (
        relation
        for group, keys in state.groups.items()
        for relation in fold(of(grouped.of(group, keys)), type_named(group[1], state.types))
    )
    return frozenset(relation.id for relation in relations)


def _attestation(state: State, code: int) -> Attestation:
    """What a signature names, by codes that are the same in every store."""
    signature = state.signatures[code]
    return Attestation(
        evidence=sorted(_lasting(state, each) for each in signature.evidence),
        influences=sorted(_lasting(state, each) for each in signature.influences),
        shared=signature.shared,
        typed=signature.typed,
    )


def _lasting(state: State, code: int) -> int:
    """The code that a signature has in every process, of its code in this state."""
    codes: dict[int, int] = state.once(lasting_codes)
    return codes.get(code, UNKNOWN_CODE)


def lasting_codes(state: State) -> dict[int, int]:
    """The code that each signature has in every process, by its code in a state."""
    found: dict[int, int] = {}

    def code_of(code: int) -> int:
        if code not in found:
            signature = state.signatures.get(code)
            found[code] = UNKNOWN_CODE if signature is None else _renamed(signature, code_of).code
        return found[code]

    for code in state.signatures:
        code_of(code)
    return found


def _renamed(signature: Signature, code_of: Callable[[int], int]) -> Signature:
    evidence, influences = (tuple(sorted(map(code_of, each))) for each in (signature.evidence, signature.influences))
    return attrs.evolve(signature, evidence=evidence, influences=influences)


def _merge(state: State, number: int) -> StoredMerge:
    records = state.once(_by_number)
    record = records[number]
    return StoredMerge(merge=record.merge, number=record.number, held=record.held)


def _by_number(state: State) -> dict[int, Any]:
    return {record.number: record for record in state.merging.records.values()}


def _link(state: State, key: Key) -> Record:
    return next(link for link in state.links[key[0]] if key_of(link) == key)


def _types(state: State) -> Collection[Any]:
    return [name for name, each in state.types.items() if KNOWN_RELATION_TYPES.get(name) != each]


_KINDS: Final[Mapping[RecordKind, tuple[Callable[[State], Collection[Any]], Callable[[State, Any], Record]]]] = {
    RecordKind.RELATION_TYPE: (_types, lambda state, key: state.types[key]),
    RecordKind.COUNTER: (
        lambda state: state.counters,
        lambda state, key: Counter(name=key, number=state.counters[key]),
    ),
    RecordKind.MERGE: (_by_number, _merge),
    RecordKind.ENTITY: (lambda state: state.entities.items, _entity),
    RecordKind.MEMORY: (lambda state: state.memories.items, _memory),
    RecordKind.RELATION: (lambda state: state.relations.items, _relation),
    RecordKind.DISTINCT: (_pairs, lambda _, key: DistinctPair(low_id=key[0], high_id=key[1])),
    RecordKind.LINK: (_links, _link),
    RecordKind.COMMUNITY: (
        lambda state: state.communities,
        lambda state, key: attrs.evolve(state.communities[key], label=""),
    ),
    RecordKind.SESSION: (
        lambda state: state.owners,
        lambda state, key: StoredSession(id=key, principal=state.owners[key]),
    ),
    RecordKind.INJECTION: (lambda state: state.injections, lambda state, key: state.injections[key]),
}
"""By kind: the keys of its records, and what builds one."""
