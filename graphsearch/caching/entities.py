"""A store that reads its entities through a cache, the protocol of these caches, and one in process memory.

A ticket identifies one state of the graph. To fill the cache, request a ticket first and read the store afterwards: if
a change began or ended in between, the ticket is invalid and the entities are rejected.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Collection, Hashable, Mapping, MutableMapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from contextvars import ContextVar
from operator import attrgetter
from threading import Lock
from types import MappingProxyType
from typing import Any, Final, cast
from uuid import UUID

import attrs

from graphsearch._support.lazy import load
from graphsearch._support.timing import SystemClock
from graphsearch.columns import Keys
from graphsearch.errors import InvalidInputError, UnknownScopeError
from graphsearch.model import ElementKind, Entity, FeedbackReport, Scope
from graphsearch.model import validation as check
from graphsearch.protocols import Clock, Store
from graphsearch.protocols.rows import Port, Rows
from graphsearch.stores.graph import GraphStore


def cached(store: GraphStore, cache: EntityCache) -> GraphStore:
    """Wrap a store so that its entities are read through a cache, which every change invalidates.

    Results equal those of the store itself at any time, also within snapshots, whoever changes the graph: what is
    cached is of one `GraphStore.version`. Feedback alone does not change the version: weights that are moved by stores
    without this cache, or in another process without the same Redis server, are noticed after its time to live. Raises
    `InvalidInputError` when the cache is of another scope; methods may also raise `CacheError`.
    """
    if cache.scope != store.scope:
        raise InvalidInputError("entity cache", [f"it is of scope {cache.scope}, and the store of {store.scope}"])
    wrapped: GraphStore = cast(Any, _CachedStore)(store, cache)  # its primitives are set below
    return wrapped


def cache_report(store: GraphStore) -> CacheReport | None:
    """The hit counts of a store's cache; None for one that is not `cached`."""
    return store.cache.report() if isinstance(store, _CachedStore) else None


class _CachedStore(GraphStore):
    """A store through another: entities are read through the cache, and all are evicted where any may change."""

    def __init__(self, store: GraphStore, cache: EntityCache) -> None:
        self._store = store
        self.cache = cache
        self._version: Hashable = None  # of what is cached

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)  # what is no part of the protocol

    @asynccontextmanager
    async def writing(self, *, changing: bool = False, **how: bool) -> AsyncIterator[Port]:
        """One transaction that changes the scope."""
        evicting = self.cache.changing() if changing else nullcontext()
        async with evicting, self._store.writing(changing=changing, **how) as port:
            yield port

    async def apply_outcome(self, *args: Any, **kwargs: Any) -> FeedbackReport:
        """Move the feedback weights of elements."""
        async with self.cache.changing():
            return await self._store.apply_outcome(*args, **kwargs)

    async def remove_scope(self) -> None:
        """Delete the scope."""
        async with self.cache.changing():
            await self._store.remove_scope()

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
            return await self.get_entities(self._store.ids(kind, keys))
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


def _forwarded(name: str) -> Callable[..., Any]:
    """The method of the store behind a cached one."""

    def forwarded(self: _CachedStore, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._store, name)(*args, **kwargs)

    return forwarded


for _name, _member in {**vars(Rows), **vars(Store)}.items():  # the primitives; all else is written over these
    if not _name.startswith("_") and _name not in vars(_CachedStore):
        forwarding = _forwarded(_name) if inspect.isfunction(_member) else property(attrgetter(f"_store.{_name}"))
        setattr(_CachedStore, _name, forwarding)

_TICKETS: Final[ContextVar[Mapping[_CachedStore, str | None]]] = ContextVar("tickets", default=MappingProxyType({}))
"""The ticket of each snapshot that the current task is in; None where it has none."""


TTL: Final = 3_600.0
"""Default time to live of an entity, in seconds."""
MAX_ENTITIES: Final = 10_000
"""Default maximum number of entities in a cache."""

GROWN: Final = 500
"""Minimum number of memories in a scope before its hit rate is meaningful."""
LEAST_HIT_RATE: Final = 0.6
"""Hit rate below which a large scope gets a warning."""
FEWEST_LOOKUPS: Final = 100
"""Minimum number of look-ups for a meaningful hit rate: the first read of an entity is always a miss."""


@attrs.frozen
class Cached:
    """The cached entities among those requested, and a ticket for adding the rest; none where all is out of date."""

    found: Mapping[UUID, Entity] = MappingProxyType({})
    ticket: str | None = None


@attrs.frozen(kw_only=True)
class CacheReport:
    """Entity look-ups of a cache since it was created, by outcome."""

    hits: int
    misses: int

    @property
    def hit_rate(self) -> float | None:
        """Hits / look-ups, in [0, 1]; None before the first look-up."""
        lookups = self.hits + self.misses
        return self.hits / lookups if lookups else None

    def warning(self, memories: int) -> str | None:
        """A warning if a scope with this many memories is large and its hit rate too low."""
        rate = self.hit_rate
        if rate is None or rate >= LEAST_HIT_RATE or memories < GROWN or self.hits + self.misses < FEWEST_LOOKUPS:
            return None
        return (
            f"the entity cache answers {rate:.0%} of its look-ups, fewer than {LEAST_HIT_RATE:.0%}: "
            "make it larger, or do without it where the graph is written as often as it is read"
        )


class EntityCache(ABC):
    """Cache entities of one scope, up to a maximum number, each for a limited time, and count look-ups.

    Raises `graphsearch.errors.CacheError` on failure: a failure is never reported as a miss.
    """

    def __init__(self, scope: Scope, ttl: float, max_entities: int) -> None:
        least = check.number("ttl", ttl, 1.0), check.number("max_entities", max_entities, 1)
        check.refuse("entity cache", *least)
        self.scope = scope
        """The only scope whose entities are cached here."""
        self._counting = Lock()
        self._hits = self._misses = 0

    @abstractmethod
    async def get(self, ids: Sequence[UUID], *, since: str | None = None) -> Cached:
        """The cached entities among ``ids``, with a ticket.

        Returns no entities and no ticket if anything changed since the ticket ``since`` was issued.
        """

    @abstractmethod
    async def put(self, entities: Sequence[Entity], ticket: str) -> bool:
        """Cache entities that were read after the ticket was issued; return False if it is invalid."""

    @abstractmethod
    async def evict(self) -> None:
        """Evict all entities, and invalidate all tickets."""

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[None]:
        """Wrap a change of the graph: evict all entities, as it begins and as it ends."""
        await self.evict()
        try:
            yield
        finally:
            await self.evict()

    def count(self, ids: Sequence[UUID], found: Collection[UUID]) -> None:
        """Record one call of `get`."""
        with self._counting:
            self._hits += len(found)
            self._misses += len(set(ids)) - len(found)

    def report(self) -> CacheReport:
        """The hit counts of this process."""
        with self._counting:
            return CacheReport(hits=self._hits, misses=self._misses)


_EXTRA: Final = {"extra": "cache", "purpose": "InProcessCache"}


class InProcessCache(EntityCache):
    """An `EntityCache` in the memory of this process, by cachetools; evicts the least recently used entity.

    Changes made by another process become visible only after ``ttl`` seconds: use `RedisCache` if other processes
    write. Raises `MissingExtraError` when cachetools is not installed, and `InvalidInputError`.
    """

    def __init__(
        self, *, scope: Scope, ttl: float = TTL, max_entities: int = MAX_ENTITIES, clock: Clock | None = None
    ) -> None:
        super().__init__(scope, ttl, max_entities)
        time_source = clock or SystemClock()
        self._entities: MutableMapping[UUID, Entity] = load("cachetools", **_EXTRA).TTLCache(
            max_entities, ttl, timer=lambda: time_source.now().timestamp()
        )
        self._lock = Lock()
        self._state = 0

    async def get(self, ids: Sequence[UUID], *, since: str | None = None) -> Cached:
        """The cached entities among ``ids``, with a ticket."""
        with self._lock:
            ticket = str(self._state)
            usable = since in (None, ticket)
            found = {id_: entity for id_ in ids if (entity := self._entities.get(id_))} if usable else {}
        self.count(ids, found)
        return Cached(found, ticket if usable else None)

    async def put(self, entities: Sequence[Entity], ticket: str) -> bool:
        """Cache entities that were read after the ticket was issued."""
        with self._lock:
            good = ticket == str(self._state)
            if good:
                self._entities.update({entity.id: entity for entity in entities})
        return good

    async def evict(self) -> None:
        """Evict all entities."""
        with self._lock:
            self._state += 1
            self._entities.clear()
