"""The gate: which elements one query may see, decided before anything is scored.

A `Gate` is an authorizer with its principal, action and scope fixed. A `Gatekeeper` asks it for one query: over
columns, and as seldom as it can, once a signature where policies read no more than that, else once an element.
Whatever goes wrong while asking is a deny.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Final
from uuid import UUID

import attrs
import numpy as np
from numpy.typing import NDArray

from graphsearch.columns import Codes, Expansion, Keys, Mask
from graphsearch.model import Action, ElementKind, Entity, Memory, Principal, Relation, Scope
from graphsearch.places import Memo
from graphsearch.protocols import Authorizer, Gate, GraphStore
from graphsearch.signature import Resource, Signature, entity_signature, memory_signature, relation_signature

_log = logging.getLogger(__name__)

_NAMED_ATTRIBUTES: Final = frozenset({"source", "owner", "sensitivity"})

_UNKNOWN: Final = -1
_DENIED: Final = 0
_PARTLY: Final = 1
"""Allowed, but some of a relation's evidence is denied."""
_ALLOWED: Final = 2

_MEMORY: Final = ElementKind.MEMORY

_Described = tuple[Resource, Sequence[Hashable]]
"""A resource, and what a relation's evidence is told by."""


# -- gates --------------------------------------------------------------------------------------------------------


@attrs.frozen(repr=False)
class AllowAll:
    """A gate that permits everything."""

    @property
    def by_signature(self) -> bool:
        """True: nothing is read at all."""
        return True

    async def permits(self, resources: Sequence[Resource]) -> Sequence[bool]:
        """True for each resource."""
        return [True] * len(resources)

    def __repr__(self) -> str:
        return "ALLOW_ALL"


ALLOW_ALL: Final = AllowAll()
"""Permits everything: to be said aloud where no policies are wanted."""


@attrs.frozen
class AuthorizerGate:
    """What one principal may do in one scope.

    An authorizer that raises, or answers short, long or with anything but True, denies.
    """

    authorizer: Authorizer
    principal: Principal
    scope: Scope
    action: Action = Action.READ

    @property
    def by_signature(self) -> bool:
        """As `Authorizer.by_signature`."""
        return self.authorizer.by_signature

    async def permits(self, resources: Sequence[Resource]) -> Sequence[bool]:
        """One answer a resource, in order."""
        return await _fail_closed(self._authorize, resources)

    async def _authorize(self, resources: Sequence[Resource]) -> Sequence[bool]:
        return await self.authorizer.authorize(self.principal, self.action, resources, scope=self.scope)


async def _fail_closed(
    ask: Callable[[Sequence[Resource]], Awaitable[Sequence[bool]]], resources: Sequence[Resource]
) -> list[bool]:
    """The answers, or a deny for each resource when they cannot be had. Logs no text of the graph."""
    if not resources:
        return []
    try:
        answers = list(await ask(resources))
    except Exception as error:  # noqa: BLE001 - whatever an authorizer does wrong, the answer is no
        # no traceback: it could quote the graph
        _log.error("authorization raised %s: %d resources denied", type(error).__name__, len(resources))
        return [False] * len(resources)
    if len(answers) != len(resources):
        _log.error("authorization gave %d answers: %d resources denied", len(answers), len(resources))
        return [False] * len(resources)
    return [answer is True for answer in answers]


# -- resources ----------------------------------------------------------------------------------------------------


def resource_of(element: Entity | Relation | Memory) -> Resource:
    """An element as policies see it, with its id, its name (a memory's subject) and its other attributes as tags."""
    signature, name = _signature_and_name(element)
    tags = {key: value for key, value in element.attributes.items() if key not in _NAMED_ATTRIBUTES}
    return attrs.evolve(signature.resource, id=str(element.id), name=name, tags=tags)


def _signature_and_name(element: Entity | Relation | Memory) -> tuple[Signature, str]:
    if isinstance(element, Entity):
        return entity_signature(element), element.name
    if isinstance(element, Memory):
        return memory_signature(element), element.subject
    return relation_signature(element, ()), ""


# -- asking -------------------------------------------------------------------------------------------------------


class SignatureBook:
    """The signatures that one question has met, each read once."""

    def __init__(self, store: GraphStore) -> None:
        self._store = store
        self._known: dict[int, Signature] = {}

    async def read(self, codes: Codes) -> dict[int, Signature]:
        """Signatures by code, in the order of the codes, which are distinct."""
        listed = codes.tolist()
        fresh = [code for code in listed if code not in self._known]
        if fresh:
            self._known.update(await self._store.signatures(fresh))
        return {code: self._known[code] for code in listed if code in self._known}


class _Verdicts:
    """What was decided, by handle: one by one, and as a column."""

    def __init__(self) -> None:
        self.known: dict[Hashable, int] = {}
        self.column = Memo(np.int8)


class Gatekeeper:
    """Asks a gate on behalf of one query, inside one snapshot. No gate, or `ALLOW_ALL`, costs nothing.

    The masks it answers are True where an element may be seen, row for row of the keys and signatures given.
    """

    def __init__(self, store: GraphStore, gate: Gate | None) -> None:
        self._store = store
        self._gate = gate if gate is not None else ALLOW_ALL
        self._open = isinstance(self._gate, AllowAll)
        self._by_signature = self._gate.by_signature is True
        self.signatures = SignatureBook(store)
        shared = _Verdicts() if self._by_signature else None  # a signature's code says what kind it is of
        self._verdicts = {kind: shared or _Verdicts() for kind in ElementKind}
        self._codes: dict[Signature, int] = {}
        self._turned_away: dict[ElementKind, list[Keys]] = {kind: [] for kind in ElementKind}

    @property
    def denied(self) -> Mapping[ElementKind, int]:
        """How many distinct elements were denied so far, by kind."""
        return {
            kind: len(np.unique(np.concatenate(columns))) if columns else 0
            for kind, columns in self._turned_away.items()
        }

    async def entities(self, keys: Keys, signatures: Codes) -> Mask:
        """Which entities may be seen."""
        return await self._mask(ElementKind.ENTITY, keys, signatures)

    async def relations(self, keys: Keys, signatures: Codes) -> Mask:
        """Which relations may be seen: permitted themselves, and with a visible memory unless they have no evidence."""
        return await self._mask(ElementKind.RELATION, keys, signatures)

    async def memories(self, keys: Keys, signatures: Codes) -> Mask:
        """Which memories may be seen."""
        return await self._mask(ElementKind.MEMORY, keys, signatures)

    async def steps(self, found: Expansion) -> Mask:
        """Which rows of an expansion may be seen: the relation, and the entity at its far end."""
        if self._open:
            return np.ones(len(found), dtype=np.bool_)
        if self._by_signature:  # one question for both
            await self._look_up(ElementKind.RELATION, np.concatenate((found.signatures, found.far_signatures)))
        allowed = await self.relations(found.relations, found.signatures)
        if allowed.any():
            allowed[allowed] = await self.entities(found.far[allowed], found.far_signatures[allowed])
        return allowed

    async def hidden_evidence(self, keys: Keys, signatures: Codes) -> Mask:
        """Which relations may be seen while some of their evidence may not."""
        if self._open:
            return np.zeros(len(keys), dtype=np.bool_)
        partly: Mask = await self._judge(ElementKind.RELATION, keys, signatures) == _PARTLY
        return partly

    async def admits(self, elements: Sequence[Entity | Relation | Memory]) -> Sequence[bool]:
        """Whether each single element is permitted, apart from its evidence and its ends."""
        return await _fail_closed(self._gate.permits, [resource_of(element) for element in elements])

    async def visible_memories(self, ids: Sequence[str]) -> set[str]:
        """Those of the memories that may be seen; behind a gate, those that exist."""
        if self._open or not ids:
            return set(ids)
        memories = await self._store.get_memories(list(dict.fromkeys(ids)))
        known = self._verdicts[ElementKind.MEMORY].known
        handles = {memory.id: self._handle_of(memory) for memory in memories}
        fresh = {handles[memory.id]: memory for memory in memories if handles[memory.id] not in known}
        resources = [resource_of(memory) for memory in fresh.values()]
        if self._by_signature:
            resources = [memory_signature(memory).resource for memory in fresh.values()]
        answers = await _fail_closed(self._gate.permits, resources)
        known.update((handle, _ALLOWED if allow else _DENIED) for handle, allow in zip(fresh, answers, strict=True))
        visible = {memory_id for memory_id, handle in handles.items() if known[handle] != _DENIED}
        self._turned_away[ElementKind.MEMORY].append(_objects([id_ for id_ in handles if id_ not in visible]))
        return visible

    def _handle_of(self, memory: Memory) -> Hashable:
        """What the verdict on a memory is kept by: its id, or the code of its signature once the store has told it."""
        if not self._by_signature:
            return memory.id
        signature = memory_signature(memory)
        return self._codes.get(signature, signature)

    async def _mask(self, kind: ElementKind, keys: Keys, signatures: Codes) -> Mask:
        if self._open:
            return np.ones(len(keys), dtype=np.bool_)
        allowed: Mask = await self._judge(kind, keys, signatures) != _DENIED
        if not allowed.all():
            denied = keys[~allowed]
            ids = _objects(self._store.memory_ids(denied)) if kind is ElementKind.MEMORY else denied
            self._turned_away[kind].append(ids)
        return allowed

    async def _judge(self, kind: ElementKind, keys: Keys, signatures: Codes) -> NDArray[np.int8]:
        if self._by_signature:
            return await self._look_up(kind, signatures)
        # evidence is told by the ids of memories, so that is what decisions on memories are kept by
        handles = _objects(self._store.memory_ids(keys)) if kind is ElementKind.MEMORY else keys
        return await self._look_up(kind, handles)

    async def _look_up(self, kind: ElementKind, handles: Keys) -> NDArray[np.int8]:
        """Verdicts by handle: a signature's code, an entity's or relation's key, a memory's id."""
        known, column = self._verdicts[kind].known, self._verdicts[kind].column
        fresh = column.missing(handles)
        if len(fresh):
            undecided = [row for row, handle in enumerate(fresh.tolist()) if handle not in known]
            known.update(await self._decide(kind, fresh[undecided]))
            column.learn(fresh, [known[handle] for handle in fresh.tolist()])
        return column[handles]

    async def _decide(self, kind: ElementKind, handles: Keys) -> dict[Hashable, int]:
        """Verdicts on handles never asked about before. What the store does not have is denied."""
        described = await (self._signed(handles) if self._by_signature else self._read(kind, handles))
        answers = await _fail_closed(self._gate.permits, [resource for resource, _ in described.values()])
        permitted = {
            handle: evidence
            for (handle, (_, evidence)), answer in zip(described.items(), answers, strict=True)
            if answer
        }
        visible = await self._visible_evidence(permitted.values())
        verdicts = dict.fromkeys(handles.tolist(), _DENIED)
        verdicts.update({handle: _verdict(evidence, visible) for handle, evidence in permitted.items()})
        return verdicts

    async def _visible_evidence(self, evidence: Iterable[Sequence[Hashable]]) -> set[Hashable]:
        listed = list(dict.fromkeys(chain.from_iterable(evidence)))
        if not listed:
            return set()
        handles = np.array(listed, dtype=np.int64) if self._by_signature else _objects(listed)
        verdicts = await self._look_up(ElementKind.MEMORY, handles)
        return {handle for handle, verdict in zip(listed, verdicts.tolist(), strict=True) if verdict != _DENIED}

    async def _signed(self, codes: Codes) -> dict[Hashable, _Described]:
        found = await self.signatures.read(codes)
        self._codes.update({signature: code for code, signature in found.items() if signature.kind is _MEMORY})
        return {code: (signature.resource, signature.evidence) for code, signature in found.items()}

    async def _read(self, kind: ElementKind, handles: Keys) -> dict[Hashable, _Described]:
        store, names = self._store, handles.tolist()
        if kind is ElementKind.MEMORY:
            return {memory.id: (resource_of(memory), ()) for memory in await store.get_memories(names)}
        found: dict[UUID, _Described]
        if kind is ElementKind.ENTITY:
            ids = store.entity_ids(handles)
            found = {entity.id: (resource_of(entity), ()) for entity in await store.get_entities(ids)}
        else:
            ids = store.relation_ids(handles)
            relations = await store.get_relations(ids)
            found = {relation.id: (resource_of(relation), relation.evidence) for relation in relations}
        return {name: found[id_] for name, id_ in zip(names, ids, strict=True) if id_ in found}


def _verdict(evidence: Sequence[Hashable], visible: set[Hashable]) -> int:
    if not evidence:
        return _ALLOWED
    seen = sum(handle in visible for handle in evidence)
    if seen == len(evidence):
        return _ALLOWED
    return _PARTLY if seen else _DENIED


def _objects(values: Sequence[object]) -> Keys:
    column = np.empty(len(values), dtype=np.object_)
    column[:] = values
    return column
