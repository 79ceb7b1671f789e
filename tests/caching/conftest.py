"""Caches of both kinds, and a Redis server of the tests' own."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphsearch.caching import InProcessCache, RedisCache
from tests.fix_postgres import folder_for_a_server


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """Of a server that keeps nothing on disk and listens on a socket in a folder of its own."""
    if os.environ.get("CI"):
        pytest.skip("Redis is not tested in continuous integration")
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed (Debian package redis-server)")
    pytest.importorskip("redis")
    with folder_for_a_server() as folder:
        socket = folder.with_name("redis.sock")
        server = subprocess.Popen(
            [program, "--port", "0", "--unixsocket", str(socket), "--save", "", "--appendonly", "no"],
            cwd=folder.parent,
            stdout=subprocess.DEVNULL,
        )
        try:
            _wait_for(socket, server)
            yield f"unix://{socket}"
        finally:
            server.terminate()
            server.wait(10)


def _wait_for(socket: Path, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 10
    while not socket.exists():
        assert server.poll() is None, "redis-server ended at once"
        assert time.monotonic() < deadline, "redis-server did not start"
        time.sleep(0.01)


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
