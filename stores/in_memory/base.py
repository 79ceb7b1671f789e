"""The base of all capabilities of a scope in memory: its state, snapshots, and changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from threading import Lock
from types import MappingProxyType
from typing import Any, Final, TypeVar
from uuid import UUID

import numpy as np

from graphsearch._support.concurrency import aside, in_slices
from graphsearch.columns import Keys
from graphsearch.errors import UnknownScopeError
from graphsearch.model import ElementKind, Scope
from graphsearch.protocols import Clock, Scoped
from graphsearch.stores.in_memory.state import Draft, State
from graphsearch.stores.in_memory.summaries import drop_outdated
from graphsearch.stores.in_memory.tables import table
from graphsearch.text.analyser import Analyser

T = TypeVar("T")


class Cell:
    """A reference to the state of one scope, None until something is written."""

    def __init__(self, analyser: Analyser, id_key: UUID) -> None:
        self.analyser = analyser
        self.id_key = id_key
        self.state: State | None = None
        self.lock = Lock()


_PAUSE_S: Final = 0.002
"""The time, in seconds, after which a writer that waits for another one looks again."""

_PINNED: Final[ContextVar[Mapping[Cell, State]]] = ContextVar("pinned", default=MappingProxyType({}))
"""The states pinned by the snapshots of the current task."""


class _Snapshot(AbstractAsyncContextManager[None]):
    """Pins the state of a cell while it is open."""

    def __init__(self, cell: Cell, state: State) -> None:
        self._pinned = {**_PINNED.get(), cell: state}

    async def __aenter__(self) -> None:
        self._token = _PINNED.set(self._pinned)

    async def __aexit__(self, *_: object) -> None:
        _PINNED.reset(self._token)


class InMemoryScope(Scoped):
    """One scope in memory.

    A write builds a new state, in slices off the event loop if that takes long, and then replaces the old one; readers
    keep the state that they began with. A key is the row of an element in the order of ids.
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

    def snapshot(self) -> AbstractAsyncContextManager[None]:
        return _Snapshot(self._cell, self._state)

    async def version(self) -> Hashable:
        return version_of(self._state)

    def entity_ids(self, keys: Keys) -> Sequence[UUID]:
        return self._ids(ElementKind.ENTITY, keys)

    def relation_ids(self, keys: Keys) -> Sequence[UUID]:
        return self._ids(ElementKind.RELATION, keys)

    def memory_ids(self, keys: Keys) -> Sequence[str]:
        return self._ids(ElementKind.MEMORY, keys)

    def _ids(self, kind: ElementKind, keys: Keys) -> list[Any]:
        ids = table(self._state, kind).ids
        return [ids[row] for row in np.asarray(keys, np.int64).tolist()]

    @property
    def _state(self) -> State:
        state = _PINNED.get().get(self._cell, self._cell.state)
        if state is None:
            raise self._unknown()
        return state

    async def _once(self, build: Callable[..., T], *of: Hashable) -> T:
        """As `State.once`; what is computed of many elements leaves the event loop."""
        state = self._state
        if state.has(build, *of):
            return state.once(build, *of)
        return await aside(lambda: state.once(build, *of), state.size)

    @asynccontextmanager
    async def _draft(self, *, create: bool = False, keep: bool = True) -> AsyncIterator[Draft]:
        """A draft that becomes the state at the end, unless an error is raised or it is discarded.

        One writer at a time; readers never see a partial change. ``create`` creates a missing scope.
        """
        async with self._writing():
            new = State(analyser=self.analyser, id_key=self._cell.id_key) if create else None
            state = self._cell.state or new
            if state is None:
                raise self._unknown()
            draft = Draft(state)
            yield draft
            if keep:
                drop_outdated(draft)
                self._cell.state = await in_slices(draft.finished())

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[None]:
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


def version_of(state: State) -> Hashable:
    """The version of a state: another one for every change to elements, their names, vectors and embedding model."""
    every = state.entities, state.relations, state.memories
    others = state.entities.words, state.naming, state.types, state.embedder
    return state.derive(_Version, *(part for each in every for part in (each.items, each.vectors)), *others)


class _Version:
    """Compared by identity."""

    def __init__(self, *_: object) -> None: ...
