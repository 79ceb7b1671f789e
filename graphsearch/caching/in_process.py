"""A cache in the process: for a graph that no other process writes to."""

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
    """An `EntityCache` in this process's memory, by cachetools: what was not used for longest goes first.

    What another process writes to the store is not noticed before ``ttl`` seconds are over: use `RedisCache` where
    there is one. Raises `MissingExtraError` when cachetools is not installed, and `InvalidInputError`.
    """

    def __init__(
        self, *, scope: Scope, ttl: float = TTL, max_entities: int = MAX_ENTITIES, clock: Clock | None = None
    ) -> None:
        check_limits(ttl, max_entities)
        tells = clock or SystemClock()
        self._scope = scope
        self._entities: MutableMapping[UUID, Entity] = load("cachetools", **_EXTRA).TTLCache(
            max_entities, ttl, timer=lambda: tells.now().timestamp()
        )
        self._lock = Lock()
        self._state = 0
        self._changes = 0
        self._hits = HitCounter()

    @property
    def scope(self) -> Scope:
        """The only scope whose entities are kept here."""
        return self._scope

    async def get(self, ids: Sequence[UUID], *, since: str | None = None) -> Cached:
        """Those of the entities that are kept, with a ticket."""
        with self._lock:
            ticket = str(self._state)
            usable = not self._changes and since in (None, ticket)
            found = {id_: entity for id_ in ids if (entity := self._entities.get(id_))} if usable else {}
        self._hits.count(ids, found)
        return Cached(found, ticket if usable else None)

    async def put(self, entities: Sequence[Entity], ticket: str) -> bool:
        """Keep entities that were read after the ticket was given."""
        with self._lock:
            good = not self._changes and ticket == str(self._state)
            if good:
                self._entities.update({entity.id: entity for entity in entities})
        return good

    @asynccontextmanager
    async def changing(self, ids: Collection[UUID] | None = None) -> AsyncIterator[None]:
        """Around every change of the graph: drop the entities that it may touch, all if None, and keep them out."""
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
        """How often entities were there."""
        return self._hits.report()
