"""The protocol of an entity cache, one in process memory, and the tickets that keep caches from serving stale entities.

A ticket identifies one state of the graph. To fill the cache, request a ticket first and read the store afterwards: if
a change began in between, the ticket is invalid and the entities are rejected. No ticket is issued during a change.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, MutableMapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from threading import Lock
from types import MappingProxyType
from typing import Final, Protocol
from uuid import UUID

import attrs

from graphsearch._support.lazy import load
from graphsearch._support.timing import SystemClock
from graphsearch.model import Entity, Scope
from graphsearch.model import validation as check
from graphsearch.protocols import Clock

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
    """The cached entities among those requested, and a ticket for adding the rest; no ticket during a change."""

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


class EntityCache(Protocol):
    """Cache entities of one scope, up to a maximum number, each for a limited time.

    Raises `graphsearch.errors.CacheError` on failure: a failure is never reported as a miss.
    """

    @property
    def scope(self) -> Scope:
        """The only scope whose entities are cached here."""
        ...

    async def get(self, ids: Sequence[UUID], *, since: str | None = None) -> Cached:
        """The cached entities among ``ids``, with a ticket.

        Returns no entities and no ticket during a change, or if anything changed since the ticket ``since`` was issued.
        """
        ...

    async def put(self, entities: Sequence[Entity], ticket: str) -> bool:
        """Cache entities that were read after the ticket was issued; return False if it is invalid."""
        ...

    def changing(self, ids: Collection[UUID] | None = None) -> AbstractAsyncContextManager[None]:
        """Wrap a change of the graph: evict the entities it may touch (None: all) and admit none until it ends.

        Invalidates all tickets issued before.
        """
        ...

    def report(self) -> CacheReport:
        """The hit counts of this process."""
        ...


class HitCounter:
    """A thread-safe counter of look-ups."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._hits = self._misses = 0

    def count(self, ids: Sequence[UUID], found: Collection[UUID]) -> None:
        """Record one call of `EntityCache.get`."""
        with self._lock:
            self._hits += len(found)
            self._misses += len(set(ids)) - len(found)

    def report(self) -> CacheReport:
        """The counts so far."""
        with self._lock:
            return CacheReport(hits=self._hits, misses=self._misses)


def check_limits(ttl: float, max_entities: int) -> None:
    """Raise `InvalidInputError` for a time to live under one second or a capacity under one entity."""
    check.refuse("entity cache", check.number("ttl", ttl, 1.0), check.number("max_entities", max_entities, 1))


_EXTRA: Final = {"extra": "cache", "purpose": "InProcessCache"}


class InProcessCache:
    """An `EntityCache` in the memory of this process, by cachetools; evicts the least recently used entity.

    Changes made by another process become visible only after ``ttl`` seconds: use `RedisCache` if other processes
    write. Raises `MissingExtraError` when cachetools is not installed, and `InvalidInputError`.
    """

    def __init__(
        self, *, scope: Scope, ttl: float = TTL, max_entities: int = MAX_ENTITIES, clock: Clock | None = None
    ) -> None:
        check_limits(ttl, max_entities)
        time_source = clock or SystemClock()
        self._scope = scope
        self._entities: MutableMapping[UUID, Entity] = load("cachetools", **_EXTRA).TTLCache(
            max_entities, ttl, timer=lambda: time_source.now().timestamp()
        )
        self._lock = Lock()
        self._state = 0
        self._changes = 0
        self._hits = HitCounter()

    @property
    def scope(self) -> Scope:
        """The only scope whose entities are cached here."""
        return self._scope

    async def get(self, ids: Sequence[UUID], *, since: str | None = None) -> Cached:
        """The cached entities among ``ids``, with a ticket."""
        with self._lock:
            ticket = str(self._state)
            usable = not self._changes and since in (None, ticket)
            found = {id_: entity for id_ in ids if (entity := self._entities.get(id_))} if usable else {}
        self._hits.count(ids, found)
        return Cached(found, ticket if usable else None)

    async def put(self, entities: Sequence[Entity], ticket: str) -> bool:
        """Cache entities that were read after the ticket was issued."""
        with self._lock:
            good = not self._changes and ticket == str(self._state)
            if good:
                self._entities.update({entity.id: entity for entity in entities})
        return good

    @asynccontextmanager
    async def changing(self, ids: Collection[UUID] | None = None) -> AsyncIterator[None]:
        """Wrap a change of the graph: evict the entities it may touch (None: all) and admit none until it ends."""
        with self._lock:
            self._state += 1
            self._changes += 1
            if ids is None:
                self._entities.clear()
            for id_ in ids or ():
                self._entities.pop(id_, None)
        try:
            yield
        finally:
            with self._lock:
                self._changes -= 1

    def report(self) -> CacheReport:
        """The hit counts."""
        return self._hits.report()
