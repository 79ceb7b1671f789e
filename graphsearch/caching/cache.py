"""The protocol of an entity cache, and the tickets that keep it from serving stale entities.

A ticket identifies one state of the graph. To fill the cache, request a ticket first and read the store afterwards: if
a change began in between, the ticket is invalid and the entities are rejected. No ticket is issued during a change.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from threading import Lock
from types import MappingProxyType
from typing import Final, Protocol
from uuid import UUID

import attrs

from graphsearch.model import Entity, Scope
from graphsearch.model import validation as check

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
