"""A cache on a Redis server, for a graph that several processes read and write.

There are three keys per scope: the entities (a hash of JSON by id, which expires as a whole), the ticket (a random
string, replaced by every change) and the changes in progress (a sorted set by expiry: a process that dies during a
change must not close the cache permanently). Each method is one script, which the server runs atomically.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files
from typing import Any, Final, Self
from urllib.parse import quote
from uuid import UUID, uuid4

from graphsearch._support.lazy import load
from graphsearch.caching.entities import MAX_ENTITIES, TTL, Cached, CacheOfScope, check_limits
from graphsearch.errors import CacheError, InvalidInputError
from graphsearch.model import Entity, Scope
from graphsearch.model import validation as check
from graphsearch.model.codec import decode, encode

_EXTRA: Final = {"extra": "redis", "purpose": "RedisCache"}


class RedisCache(CacheOfScope):
    """An `EntityCache` on a Redis server, shared by all clients that open it for the same scope.

    ``url`` is redis://, rediss:// or unix://; ``timeout`` is in seconds, for connecting and for each response. If a
    process dies during a change, the cache stays empty for ``ttl`` seconds. Call `aclose` at the end, or
    use ``async with``.

    Raises `MissingExtraError` when redis is not installed, `InvalidInputError` on construction, and `CacheError`, with
    the client's error as its cause, whenever the server is unreachable or rejects a command.
    """

    def __init__(
        self, url: str, *, scope: Scope, ttl: float = TTL, max_entities: int = MAX_ENTITIES, timeout: float = 5.0
    ) -> None:
        super().__init__(scope)
        check_limits(ttl, max_entities)
        check.refuse("Redis cache", check.number("timeout", timeout, 1e-3))
        client = load("redis.asyncio", **_EXTRA)
        try:
            self._redis: Any = client.from_url(url, socket_timeout=timeout, socket_connect_timeout=timeout)
        except ValueError as error:
            raise InvalidInputError("Redis cache", ["url must be redis://, rediss:// or unix://"]) from error
        self._failure: type[Exception] = client.RedisError
        self._ttl, self._most = round(ttl * 1000), max_entities
        # The part in braces is the hash tag of a Redis cluster. Quoting keeps the names of two scopes distinct.
        name = f"graphsearch:2:{{{quote(scope.org_id, safe='')}/{quote(scope.project_id, safe='')}}}"
        self._keys = [f"{name}:{part}" for part in ("entities", "ticket", "changes")]
        self._get, self._put, self._change = (
            self._redis.register_script(_script(name)) for name in ("get", "put", "change")
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._redis.aclose()

    async def get(self, ids: Sequence[UUID], *, since: str | None = None) -> Cached:
        """The cached entities among ``ids``, with a ticket."""
        wanted = list(dict.fromkeys(ids))
        answer = await self._run(self._get, uuid4().hex, self._ttl, since or "", *map(str, wanted))
        ticket, texts = (answer[0].decode(), answer[1:]) if answer else (None, [])
        found = {id_: _decoded(text) for id_, text in zip(wanted, texts, strict=False) if text is not None}
        self.count(wanted, found)
        return Cached(found, ticket)

    async def put(self, entities: Sequence[Entity], ticket: str) -> bool:
        """Cache entities that were read after the ticket was issued."""
        pairs = [part for each in entities for part in (str(each.id), json.dumps(encode(each, sparse=True)))]
        return bool(await self._run(self._put, ticket, self._ttl, self._most, *pairs))

    @asynccontextmanager
    async def changing(self, ids: Collection[UUID] | None = None) -> AsyncIterator[None]:
        """Wrap a change of the graph: evict the entities it may touch (None: all) and admit none until it ends.

        Evicts again at the end, because entities can have been added meanwhile if the server lost the mark of the
        change or the change outlived it.
        """
        name = uuid4().hex
        which = ("1",) if ids is None else ("0", *map(str, ids))
        await self._run(self._change, "begin", name, uuid4().hex, self._ttl, *which)
        try:
            yield
        finally:
            await self._run(self._change, "end", name, uuid4().hex, self._ttl, *which)

    async def _run(self, script: Any, *arguments: object) -> Any:
        try:
            return await script(keys=self._keys, args=arguments)
        except self._failure as error:
            raise CacheError(f"the Redis server of the entity cache failed: {type(error).__name__}") from error


def _decoded(text: bytes) -> Entity:
    try:
        return decode(Entity, check.parse_json(text))
    except ValueError as error:
        raise CacheError("the cache holds something that is no entity: empty it") from error


def _script(name: str) -> str:
    """What all scripts begin with, and one of them."""
    folder = files("graphsearch.caching")
    return "".join(folder.joinpath(f"{part}.lua").read_text(encoding="utf-8") for part in ("changing", name))
