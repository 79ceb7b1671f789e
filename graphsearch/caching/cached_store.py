"""A store that reads its entities through a cache."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Hashable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import wraps
from types import MappingProxyType
from typing import Any, Final, cast
from uuid import UUID

from graphsearch.caching.cache import Cached, CacheReport, EntityCache
from graphsearch.columns import Keys
from graphsearch.errors import InvalidInputError, UnknownScopeError
from graphsearch.model import ElementKind, ElementRef, Entity
from graphsearch.protocols import GraphStore
from graphsearch.protocols.effects import Effect, effect_of


def cached(store: GraphStore, cache: EntityCache) -> GraphStore:
    """Wrap a store so that its entities are read through a cache, which every change invalidates.

    Results equal those of the store itself at any time, also within snapshots, whoever changes the graph: what is
    cached is of one `GraphStore.version`. Feedback alone does not change the version: weights that are moved by stores
    without this cache, or in another process without the same Redis server, are noticed after its time to live. Raises
    `InvalidInputError` when the cache is of another scope; methods may also raise `CacheError`.
    """
    if cache.scope != store.scope:
        raise InvalidInputError("entity cache", [f"it is of scope {cache.scope}, and the store of {store.scope}"])
    return cast(GraphStore, _CachedStore(store, cache))


def cache_report(store: GraphStore) -> CacheReport | None:
    """The hit counts of a store's cache; None for one that is not `cached`."""
    return store.cache.report() if isinstance(store, _CachedStore) else None


class _CachedStore:
    """Forward every method; evict the entities that a method changes according to its declared effect.

    A method without a declaration, or one that the protocol does not define, may change any entity.
    """

    def __init__(self, store: GraphStore, cache: EntityCache) -> None:
        self._store = store
        self.cache = cache
        self._version: Hashable = None  # of what is cached

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if not inspect.iscoroutinefunction(method):
            return method
        effect = effect_of(GraphStore, name) or _ANYTHING
        return self._as_a_change(method, effect) if "entities" in effect.changes else method

    def _as_a_change(self, method: Callable[..., Any], effect: Effect) -> Callable[..., Any]:
        @wraps(method)
        async def change(*args: Any, **kwargs: Any) -> Any:
            keys = None
            if effect.only:
                given = inspect.signature(getattr(GraphStore, method.__name__)).bind(self, *args, **kwargs)
                keys = _entities(given.arguments[effect.only])
                if not keys:
                    return await method(*args, **kwargs)
            async with self.cache.changing(keys):
                return await method(*args, **kwargs)

        return change

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[None]:
        """Let all reads inside, of this task and of those it starts, see one state of the graph.

        The cache is used while the ticket from before the snapshot is valid, that is, while nothing has changed.
        """
        if self in _TICKETS.get():
            async with self._store.snapshot():
                yield
            return
        before = (await self.cache.get(())).ticket
        async with self._store.snapshot():
            ticket = await self._current(before)
            token = _TICKETS.set({**_TICKETS.get(), self: ticket})
            try:
                yield
            finally:
                _TICKETS.reset(token)

    async def get_entities(self, ids: Sequence[UUID]) -> Sequence[Entity]:
        """Entities in the order of ``ids``."""
        if self not in _TICKETS.get():  # what is cached has to be of the version that was looked at
            async with self.snapshot():
                return await self.get_entities(ids)
        ticket = _TICKETS.get()[self]
        known = await self.cache.get(ids, since=ticket) if ticket else Cached()
        missing = [id_ for id_ in dict.fromkeys(ids) if id_ not in known.found]
        if ids and not missing:
            return [known.found[id_] for id_ in ids]
        read = await self._store.get_entities(missing)
        if known.ticket is not None:
            await self.cache.put(read, known.ticket)
        there = {**known.found, **{entity.id: entity for entity in read}}
        return [there[id_] for id_ in ids if id_ in there]

    async def elements(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        """The elements behind keys, in the order of the keys."""
        if kind is ElementKind.ENTITY:
            return await self.get_entities(self._store.entity_ids(keys))
        return await self._store.elements(kind, keys)

    async def _current(self, ticket: str | None) -> str | None:
        """The ticket if the cache is of the store's version; otherwise all is evicted, and a new one is issued."""
        try:
            version = await self._store.version()
        except UnknownScopeError:
            return None
        if version == self._version:
            return ticket
        async with self.cache.changing():
            self._version = version
        issued = (await self.cache.get(())).ticket
        return issued if self._version == version else None  # a snapshot of another version came in between


_ANYTHING: Final = Effect(frozenset({"entities"}))


def _entities(elements: Iterable[ElementRef]) -> set[UUID]:
    """The ids of the entities among elements."""
    keys = {element.key for element in elements if element.kind is ElementKind.ENTITY}
    return {key for key in keys if isinstance(key, UUID)}


_TICKETS: Final[ContextVar[Mapping[_CachedStore, str | None]]] = ContextVar("tickets", default=MappingProxyType({}))
"""The ticket of each snapshot that the current task is in; None where it has none."""
