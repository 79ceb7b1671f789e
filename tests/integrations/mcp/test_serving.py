"""`graphsearch mcp` in this process: over HTTP on a real database until a signal comes, and over standard streams."""

import asyncio
import json
import os
import signal
import sys
from io import TextIOWrapper
from typing import Any

import pytest
from sse_starlette.sse import AppStatus

from graphsearch.cli import serving
from graphsearch.integrations.mcp import serve_stdio
from tests.integrations.mcp.bearers import ADA, BOB, ENTRIES, token_file
from tests.integrations.mcp.conftest import server_for
from tests.integrations.mcp.test_http import asking_at, client, status
from tests.waiting import LONGEST


@pytest.fixture
async def started(postgres_database, monkeypatch):
    """Starts the command, and gives its URL; at the end a signal stops it."""
    monkeypatch.setattr(AppStatus, "should_exit", False)  # a signal sets it for the whole process, which here goes on
    running = []

    async def start(command=serving.mcp, **options):
        url = asyncio.get_running_loop().create_future()
        monkeypatch.setattr(serving, "_say", url.set_result)
        named: dict[str, Any] = {
            name: options.pop(name) for name in ("tokens", "disabled", "attribute") if name in options
        }
        given: dict[str, Any] = {"attribute": ("role=editor",), **named}
        group = serving.Serving(org="acme", project="web", dsn=postgres_database.dsn, **given)
        served = command(http="127.0.0.1:0", serving=group, **options)
        running.append(asyncio.ensure_future(served))
        await asyncio.wait({url, *running}, return_when=asyncio.FIRST_COMPLETED)
        return await url

    yield start
    os.kill(os.getpid(), signal.SIGTERM)
    for each in running:
        assert await asyncio.wait_for(each, LONGEST) is None


async def test_one_principal_over_http(started):
    url = await started(principal="ada")
    async with asking_at(url) as ask:
        await ask("remember", text="Grace Hopper built COBOL.")
        found = await ask("graph_query", query="What did Grace Hopper build?")
    assert "- Grace Hopper --created--> COBOL" in found["text"]


async def test_tokens_over_http(started, tmp_path):
    url = await started(tokens=token_file(tmp_path, {"tokens": ENTRIES}), read_only=True)
    assert await status(url) == 401
    async with asking_at(url, ADA) as ada, asking_at(url, BOB) as bob:
        assert "remember" not in await ada.tools()
        assert (await bob("recall", query="anything?"))["memories"] == []


@pytest.mark.parametrize("write", [True, False])
async def test_the_page_over_http(started, write):
    url = await started(serving.ui, principal="ada", attribute=("role=admin",), write=write)
    async with client() as http:
        assert "<title>" in (await http.get(url)).text
        me = (await http.get(f"{url}page/me")).json()
        made = await http.post(f"{url}v1/remember", json={"text": "Grace Hopper built COBOL."})
        left = (await http.get(f"{url}page/me")).json()["size"]
    assert (me["principal"]["id"], me["writes"], "view_as" in me["may"]) == ("ada", write, True)
    assert (me["size"], me["questions"]) == ({"entities": 0, "relations": 0, "memories": 0}, [])
    assert (made.status_code, left["memories"]) == ((200, 1) if write else (404, 0))


async def test_the_page_is_beside_the_tools(started, tmp_path):
    url = await started(tokens=token_file(tmp_path, {"tokens": ENTRIES}))
    async with client({"authorization": f"Bearer {ADA}"}) as http:
        assert (await http.get(url.replace("/mcp", "/page/me"))).json()["writes"]


async def test_a_server_that_is_switched_off(started):
    url = await started(principal="ada", disabled=True)
    async with asking_at(url) as ask:
        assert await ask("recall", query="anything?") == {"disabled": True}


async def test_standard_input_and_output_until_it_is_told_to_stop(engine, monkeypatch):
    stop = asyncio.Event()
    (reading, asking), (answered, writing) = os.pipe(), os.pipe()
    kept = os.dup(0)
    os.dup2(reading, 0)
    printed = TextIOWrapper(os.fdopen(writing, "wb"))
    monkeypatch.setattr(sys, "stdout", printed)
    try:
        served = asyncio.ensure_future(serve_stdio(server_for(engine), stop))
        os.write(asking, b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        answer = json.loads(await asyncio.to_thread(os.read, answered, 1_000))
        assert os.read(0, 1) == b"", "nobody else reads from the wire"
        stop.set()
        await asyncio.wait_for(served, LONGEST)
    finally:
        os.dup2(kept, 0)
        printed.close()
        for each in (kept, reading, asking, answered):
            os.close(each)
    assert answer == {"jsonrpc": "2.0", "id": 1, "result": {}}
