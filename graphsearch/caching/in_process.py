"""A cache in process memory, for a graph that no other process writes to."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, MutableMapping, Sequence
from contextlib import asynccontextmanager
from threading import Lock
from typing import Final
from uuid import UUID

from graphsearch._support.lazy import load
from graphsearch._support.timing import SystemClock
from graphsearch.caching.cache import MAX_ENTITIES, TTL, Cached, CacheReport, HitCounter, check_limits
from graphsearch.model import Entity, Scope
from graphsearch.protocols import Clock

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
