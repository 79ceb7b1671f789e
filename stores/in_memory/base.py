"""The base of all capabilities of a scope in memory: its present version, snapshots, and the lock of its writers."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Collection, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from graphsearch.columns import Keys
from graphsearch.errors import UnknownScopeError
from graphsearch.model import KNOWN_RELATION_TYPES, ElementKind, ElementRef, FeedbackReport, Outcome, Scope
from graphsearch.model.stored import StoredOutcome
from graphsearch.model.validation import revised
from graphsearch.protocols import Clock
from graphsearch.protocols.rows import Counts, Entry, ScopeRow
from graphsearch.stores.in_memory.columns import listing, sorted_rows
from graphsearch.stores.in_memory.port import MemoryPort
from graphsearch.stores.in_memory.reading import Reads, once
from graphsearch.stores.in_memory.steps import degrees
from graphsearch.stores.in_memory.versions import Cell, Version, made_of
from graphsearch.text.analyser import Analyser

_PAUSE_S: Final = 0.002
"""The time, in seconds, after which a writer that waits for another one looks again."""

_ENTITY: Final = ElementKind.ENTITY
_RELATION: Final = ElementKind.RELATION

_PINNED: Final[ContextVar[Mapping[Cell, Version]]] = ContextVar("pinned", default=MappingProxyType({}))
"""The versions pinned by the snapshots of the current task."""


class InMemoryScope(Reads):
    """One scope in memory.

    A write makes a new version; readers keep the one that they began with. A key is the row of an element in the order
    of ids.
    """

    def __init__(self, scope: Scope, clock: Clock, cell: Cell) -> None:
        self._scope = scope
        self._clock = clock
        self._cell = cell

    @property
    def scope(self) -> Scope:
        return self._scope

    @property
    def clock(self) -> Clock:
        return self._clock

    @property
    def analyser(self) -> Analyser:
        return self._cell.analyser

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[None]:
        token = _PINNED.set({**_PINNED.get(), self._cell: self._version})
        try:
            yield
        finally:
            _PINNED.reset(token)

    async def version(self) -> Hashable:
        return self._version.token

    def ids(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        ids = self._version.made(listing, kind).ids
        return [ids[row] for row in np.asarray(keys, np.int64).tolist()]

    async def scope_row(self) -> ScopeRow:
        return self._version.scope

    @property
    def _version(self) -> Version:
        version = _PINNED.get().get(self._cell, self._cell.version)
        if version is None:
            raise self._unknown()
        return version

    # -- rows ------------------------------------------------------------------------------------------------------

    async def elements(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        version = self._version
        ids = version.made(listing, kind).ids
        return [getattr(row, kind) for row in version.some(kind, [ids[row] for row in keys.tolist()])]

    async def counts(self, kinds: Collection[str]) -> Counts:
        version = self._version
        entities = await once(version, entity_types) if _ENTITY in kinds else {}
        relations, most = await once(version, live_relations) if _RELATION in kinds else ({}, 0)
        return Counts({kind: version.size(kind) for kind in kinds}, entities, relations, most)

    # -- writes ----------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def writing(
        self,
        *,
        create: bool = False,
        alone: bool = True,  # noqa: ARG002 - all writers are
        changing: bool = False,  # noqa: ARG002 - of another store
        renewing: bool = False,  # noqa: ARG002 - of another store
    ) -> AsyncIterator[MemoryPort]:
        async with self._alone():
            port = self._begin(create=create)
            yield port
            await port.commit()

    def _begin(self, *, create: bool) -> MemoryPort:
        """A transaction upon the present version, for who holds the lock."""
        version = self._cell.version
        if version is None:
            if not create:
                raise self._unknown()
            row = ScopeRow(self._cell.id_key, types=dict(KNOWN_RELATION_TYPES))
            version = Version.of_nothing(row, self.analyser)
        return MemoryPort(self._cell, version)

    async def apply_outcome(
        self, session_id: str, outcome: Outcome, elements: Sequence[ElementRef], *, logged: Sequence[str] = ()
    ) -> FeedbackReport:
        found: dict[str, list[ElementRef]] = {"applied": [], "replaced": [], "repeated": [], "missing": []}
        async with self.writing() as port:
            alpha, wanted = port.scope.alpha, sorted(set(elements))
            log = {row.key for row in await port.rows("injection", logged) if row.value.session_id == session_id}
            if not log.issuperset(logged):
                return FeedbackReport(missing=tuple(wanted))
            outcomes = dict[tuple[str, str, str], StoredOutcome]()
            index = await port.index(port.before, "outcome", "element")
            valid = StoredOutcome(session_id=session_id, seq=1, outcome=outcome)
            for ref in wanted:
                kind, key = str(ref.kind), (str(ref.kind), str(ref.id), session_id)
                row, given = port.before.get(kind, ref.key), port.before.get("outcome", key)
                if row is None:
                    found["missing"].append(ref)
                    continue
                weight, number = getattr(row, kind).feedback_weight, index.number(key[:2])
                if given is None:
                    found["applied"].append(ref)
                    outcomes[key] = revised(valid, seq=number + 1)
                    weight = alpha * outcome.value + (1 - alpha) * weight
                elif (old := given.value).outcome is outcome:
                    found["repeated"].append(ref)
                    continue
                else:
                    found["replaced"].append(ref)
                    outcomes[key] = revised(valid, seq=old.seq)
                    weight += alpha * (1 - alpha) ** (number - old.seq) * (outcome.value - old.outcome.value)
                port.weigh(kind, row, min(max(weight, 0.0), 1.0))  # rounding may exceed the bounds
            await port.put("outcome", [Entry(key, value) for key, value in outcomes.items()], {})
        applied, replaced, repeated, missing = (tuple(refs) for refs in found.values())
        return FeedbackReport(applied=applied, replaced=replaced, repeated=repeated, missing=missing)

    async def settle(self) -> int:
        """Return 0: indexes are made at first use, and nothing is deferred."""
        async with self.writing():
            return 0

    async def remove_scope(self) -> None:
        async with self._alone():
            self._cell.version = None

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """The only writer of the scope, in any thread; waiting for others does not block the event loop."""
        while not self._cell.lock.acquire(blocking=False):  # noqa: ASYNC110 - of threads, without an event
            await asyncio.sleep(_PAUSE_S)
        try:
            yield
        finally:
            self._cell.lock.release()

    def _unknown(self) -> UnknownScopeError:
        return UnknownScopeError(
            f"nothing was ever written to scope {self._scope}: check how it is spelt, or write to it first"
        )


@made_of("entity", lasts=False)
def entity_types(version: Version) -> Mapping[str, int]:
    """The numbers of entities by type."""
    return dict(sorted(Counter(row.entity.type for row in version.made(sorted_rows, _ENTITY)).items()))


@made_of("entity", "relation", lasts=False)
def live_relations(version: Version) -> tuple[Mapping[str, int], int]:
    """The numbers of unretracted relations by type, and the largest degree."""
    every = (row.relation for row in version.made(sorted_rows, _RELATION))
    live = (each.type for each in every if each.retracted_at is None)
    return dict(sorted(Counter(live).items())), int(version.made(degrees).max(initial=0))
