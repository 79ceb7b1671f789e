"""A cache on a Redis server, for a graph that several processes read and write.

There are two keys per scope: the entities (a hash of JSON by id, which expires as a whole) and the ticket (a random
string, replaced by every change). Each method is one transaction of the server.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Sequence
from typing import Any, Final, Self
from urllib.parse import quote
from uuid import UUID, uuid4

from graphsearch._support.lazy import load
from graphsearch.caching.entities import MAX_ENTITIES, TTL, Cached, EntityCache
from graphsearch.errors import CacheError, InvalidInputError
from graphsearch.model import Entity, Scope
from graphsearch.model import validation as check
from graphsearch.model.codec import decode, encode

_EXTRA: Final = {"extra": "redis", "purpose": "RedisCache"}


class RedisCache(EntityCache):
    """An `EntityCache` on a Redis server, shared by all clients that open it for the same scope.

    ``url`` is redis://, rediss:// or unix://; ``timeout`` is in seconds, for connecting and for each response. Call
    `aclose` at the end, or use ``async with``.

    Raises `MissingExtraError` when redis is not installed, `InvalidInputError` on construction, and `CacheError`, with
    the client's error as its cause, whenever the server is unreachable or rejects a command.
    """

    def __init__(
        self, url: str, *, scope: Scope, ttl: float = TTL, max_entities: int = MAX_ENTITIES, timeout: float = 5.0
    ) -> None:
        super().__init__(scope, ttl, max_entities)
        check.refuse("Redis cache", check.number("timeout", timeout, 1e-3))
        client = load("redis.asyncio", **_EXTRA)
        try:
            self._redis: Any = client.from_url(url, socket_timeout=timeout, socket_connect_timeout=timeout)
        except ValueError as error:
            raise InvalidInputError("Redis cache", ["url must be redis://, rediss:// or unix://"]) from error
        self._failure: type[Exception] = client.RedisError
        self._ttl, self._most = round(ttl * 1000), max_entities
        # The part in braces is the hash tag of a Redis cluster. Quoting keeps the names of two scopes distinct.
        name = f"graphsearch:3:{{{quote(scope.org_id, safe='')}/{quote(scope.project_id, safe='')}}}"
        self._entities, self._ticket = f"{name}:entities", f"{name}:ticket"
        self._put = self._redis.register_script(_PUT)

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
        asked = [("SET", self._ticket, uuid4().hex, "NX", "PX", self._ttl), ("GET", self._ticket)]
        asked += [("HMGET", self._entities, *map(str, wanted))] if wanted else []
        _, ticket, *texts = await self._transact(*asked)
        if since not in (None, ticket.decode()):
            return Cached()
        pairs = zip(wanted, texts[0] if texts else (), strict=True)
        found = {id_: _decoded(text) for id_, text in pairs if text is not None}
        self.count(wanted, found)
        return Cached(found, ticket.decode())

    async def put(self, entities: Sequence[Entity], ticket: str) -> bool:
        """Cache entities that were read after the ticket was issued."""
        pairs = [part for each in entities for part in (str(each.id), json.dumps(encode(each, sparse=True)))]
        keys = [self._entities, self._ticket]
        return bool(await self._done(self._put(keys=keys, args=[ticket, self._ttl, self._most, *pairs])))

    async def evict(self) -> None:
        """Evict all entities."""
        await self._transact(("SET", self._ticket, uuid4().hex, "PX", self._ttl), ("DEL", self._entities))

    async def _transact(self, *commands: tuple[object, ...]) -> Any:
        transaction = self._redis.pipeline()
        for command in commands:
            transaction.execute_command(*command)
        return await self._done(transaction.execute())

    async def _done(self, asking: Awaitable[Any]) -> Any:
        try:
            return await asking
        except self._failure as error:
            raise CacheError(f"the Redis server of the entity cache failed: {type(error).__name__}") from error


_PUT: Final = """
if redis.call('GET', KEYS[2]) ~= ARGV[1] then return 0 end
for place = 4, #ARGV, 2 do
    if redis.call('HLEN', KEYS[1]) == tonumber(ARGV[3]) then break end
    redis.call('HSET', KEYS[1], ARGV[place], ARGV[place + 1])
end
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
"""


def _decoded(text: bytes) -> Entity:
    try:
        return decode(Entity, check.parse_json(text))
    except ValueError as error:
        raise CacheError("the cache holds something that is no entity: empty it") from error
