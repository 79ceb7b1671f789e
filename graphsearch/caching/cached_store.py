"""A store whose entities are read through a cache."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import wraps
from types import MappingProxyType
from typing import Any, Final, cast
from uuid import UUID

from graphsearch.caching.cache import Cached, EntityCache
from graphsearch.columns import Keys
from graphsearch.errors import InvalidInputError
from graphsearch.model import ElementKind, ElementRef, Entity, FeedbackReport, Outcome
from graphsearch.protocols import GraphStore

CHANGES_NO_ENTITY: Final = frozenset(
    {
        *("bind_embedder", "embedder_name", "register_types", "relation_types", "settle", "signatures", "statistics"),
        *("get_relations", "get_memories", "list_entities", "list_relations", "list_memories", "list_mentions"),
        *("list_claims", "find_names", "find_name_words", "similar_names", "search_by_embedding", "search_lexical"),
        *("locate", "expand", "left_out", "log_injection", "injections", "outcomes", "degrees", "contradictions"),
        *("link_memories", "memory_links", "mark_distinct", "distinct_pairs", "similar_pairs", "merges", "given"),
        *("sayings", "elements", "shared_signatures"),
        *("edges", "communities", "write_communities", "document_count", "mentioned", "turns", "related"),
        *("unembedded_facts", "document_frequencies", "vectors", "words", "version"),
    }
)
"""Methods of a store after which every entity is what it was. Any other empties the cache."""


def cached(store: GraphStore, cache: EntityCache) -> GraphStore:
    """The same store, with its entities read through a cache that its changes keep true.

    Answers are those of the store itself, at any time and within snapshots, provided that whatever changes the graph
    does so through stores made by this function: with the same `InProcessCache`, or with a `RedisCache` of the same
    server. Raises `InvalidInputError` when the cache is of another scope; methods raise `CacheError` besides.
    """
    if cache.scope != store.scope:
        raise InvalidInputError("entity cache", [f"it is of scope {cache.scope}, and the store of {store.scope}"])
    return cast(GraphStore, _CachedStore(store, cache))


class _CachedStore:
    """Passes on all that it does not know, as a change unless it is told that it is none."""

    def __init__(self, store: GraphStore, cache: EntityCache) -> None:
        self._store = store
        self._cache = cache

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name in CHANGES_NO_ENTITY or not inspect.iscoroutinefunction(method):
            return method
        return self._as_a_change(method)

    def _as_a_change(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        async def change(*args: Any, **kwargs: Any) -> Any:
            async with self._cache.changing():
                return await method(*args, **kwargs)

        return change

    async def apply_outcome(self, session_id: str, outcome: Outcome, elements: Sequence[ElementRef]) -> FeedbackReport:
        """Move the elements' feedback weights; of no other entity anything changes."""
        keys = {element.key for element in elements if element.kind is ElementKind.ENTITY}
        if not keys:
            return await self._store.apply_outcome(session_id, outcome, elements)
        async with self._cache.changing([key for key in keys if isinstance(key, UUID)]):
            return await self._store.apply_outcome(session_id, outcome, elements)

    @asynccontextmanager
    async def snapshot(self) -> AsyncIterator[None]:
        """Everything read inside, in this task and those it starts, sees one state of the graph.

        The cache is used for as long as the ticket from before it began is good: nothing changed since then.
        """
        if self in _TICKETS.get():
            async with self._store.snapshot():
                yield
            return
        ticket = (await self._cache.get(())).ticket
        async with self._store.snapshot():
            token = _TICKETS.set({**_TICKETS.get(), self: ticket})
            try:
                yield
            finally:
                _TICKETS.reset(token)

    async def get_entities(self, ids: Sequence[UUID]) -> Sequence[Entity]:
        """Entities in the order of ``ids``."""
        known = await self._look_up(ids)
        missing = [id_ for id_ in dict.fromkeys(ids) if id_ not in known.found]
        if ids and not missing:
            return [known.found[id_] for id_ in ids]
        read = await self._store.get_entities(missing)
        kept = known.ticket is not None and await self._cache.put(read, known.ticket)
        if known.found and not kept:  # something changed in between: the two parts may be of two states
            return await self._store.get_entities(ids)
        there = {**known.found, **{entity.id: entity for entity in read}}
        return [there[id_] for id_ in ids if id_ in there]

    async def elements(self, kind: ElementKind, keys: Keys) -> Sequence[Any]:
        """The elements behind keys, in their order."""
        if kind is ElementKind.ENTITY:
            return await self.get_entities(self._store.entity_ids(keys))
        return await self._store.elements(kind, keys)

    async def _look_up(self, ids: Sequence[UUID]) -> Cached:
        tickets = _TICKETS.get()
        if self not in tickets:
            return await self._cache.get(ids)
        since = tickets[self]
        return await self._cache.get(ids, since=since) if since else Cached()


_TICKETS: Final[ContextVar[Mapping[_CachedStore, str | None]]] = ContextVar("tickets", default=MappingProxyType({}))
"""Of the snapshots that this task is in: the ticket of their state, None where it has none."""
