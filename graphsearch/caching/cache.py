"""What a cache of entities is: a few methods, and the ticket by which it never serves what has changed.

A ticket stands for one state of the graph. Who wants to fill the cache asks for a ticket first and reads the store
after: if anything began to change in between, the ticket is no longer good and what was read is not taken. While a
change goes on there are no tickets at all.
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
"""How many seconds an entity is kept."""
MAX_ENTITIES: Final = 10_000
"""How many entities a cache holds."""

GROWN: Final = 500
"""From this many memories on, a scope is large enough for its hit rate to say something."""
LEAST_HIT_RATE: Final = 0.6
"""Of a grown scope; below, there is a warning."""
FEWEST_LOOKUPS: Final = 100
"""With fewer look-ups a hit rate says nothing: what is read first is never there."""


@attrs.frozen
class Cached:
    """What a cache has of the entities asked for, and the ticket to add to it; None while something changes."""

    found: Mapping[UUID, Entity] = MappingProxyType({})
    ticket: str | None = None


@attrs.frozen(kw_only=True)
class CacheReport:
    """How often a cache had what was asked for, since it was made: numbers of entities."""

    hits: int
    misses: int

    @property
    def hit_rate(self) -> float | None:
        """The share of the look-ups that were answered, in [0, 1]; None before the first."""
        lookups = self.hits + self.misses
        return self.hits / lookups if lookups else None

    def warning(self, memories: int) -> str | None:
        """What to say when a scope of so many memories has grown and its cache answers too seldom."""
        rate = self.hit_rate
        if rate is None or rate >= LEAST_HIT_RATE or memories < GROWN or self.hits + self.misses < FEWEST_LOOKUPS:
            return None
        return (
            f"the entity cache answers {rate:.0%} of its look-ups, fewer than {LEAST_HIT_RATE:.0%}: "
            "make it larger, or do without it where the graph is written as often as it is read"
        )


class EntityCache(Protocol):
    """Keeps entities of one scope, each for a limited time, and no more than a limited number.

    `graphsearch.errors.CacheError` when it fails: a failure is never a miss.
    """

    @property
    def scope(self) -> Scope:
        """The only scope whose entities are kept here."""
        ...

    async def get(self, ids: Sequence[UUID], *, since: str | None = None) -> Cached:
        """Those of the entities that are kept, with a ticket.

        Nothing and no ticket while something changes, nor when anything changed after the ticket ``since`` was given.
        """
        ...

    async def put(self, entities: Sequence[Entity], ticket: str) -> bool:
        """Keep entities that were read after the ticket was given; False, and nothing kept, if it is good no more."""
        ...

    def changing(self, ids: Collection[UUID] | None = None) -> AbstractAsyncContextManager[None]:
        """Around every change of the graph: drop the entities that it may touch, all if None, and keep them out.

        Tickets given before are good no more.
        """
        ...

    def report(self) -> CacheReport:
        """How often entities were there, as this process saw it."""
        ...


class HitCounter:
    """Counts look-ups, in any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._hits = self._misses = 0

    def count(self, ids: Sequence[UUID], found: Collection[UUID]) -> None:
        """One call of `EntityCache.get`."""
        with self._lock:
            self._hits += len(found)
            self._misses += len(set(ids)) - len(found)

    def report(self) -> CacheReport:
        """The counts by now."""
        with self._lock:
            return CacheReport(hits=self._hits, misses=self._misses)


def check_limits(ttl: float, max_entities: int) -> None:
    """Raise `InvalidInputError` for a time to live under a second, or room for less than one entity."""
    check.refuse("entity cache", check.number("ttl", ttl, 1.0), check.number("max_entities", max_entities, 1))
