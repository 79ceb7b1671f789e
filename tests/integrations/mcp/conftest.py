"""Servers over a small team's graph, in this process, and the official client to ask them."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import attrs
import pytest
from mcp import Client
from mcp.types import TextContent, TextResourceContents, Tool, ToolAnnotations

from graphsearch.authz import CedarAuthorizer
from graphsearch.engine import GraphSearchEngine
from graphsearch.integrations.http.tokens import TokenMap
from graphsearch.integrations.mcp.server import make_server
from graphsearch.model import Principal, Scope
from graphsearch.operations.service import GraphService, Identity
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock, HashEmbedder
from graphsearch.testing.samples import day
from tests.curation.team import BATCH
from tests.integrations.mcp.bearers import DISABLED, ENTRIES, token_file

SCOPE = Scope("acme", "web")
EDITOR = Principal(id="ada", attributes={"role": "editor"}, projects=[SCOPE])
READER = Principal(id="bob", projects=[SCOPE])
STRANGER = Principal(id="eve", projects=[Scope("acme", "other")])


def own(id_, who=EDITOR):
    """The id of a turn that somebody remembers."""
    return f"{id_}#{hashlib.sha256(who.qualified_id.encode()).hexdigest()[:16]}"


class Asked:
    """A client whose answers are data."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def __call__(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool answers; of a context block, with its details."""
        if tool == "graph_query":
            arguments = {"details": True, **arguments}
        is_error, answer = await self._called(tool, arguments)
        assert not is_error, answer
        return answer

    async def error(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The error of a call that must fail."""
        is_error, answer = await self._called(tool, arguments)
        assert is_error, answer
        error: dict[str, Any] = answer["error"]
        return error

    async def _called(self, tool: str, arguments: dict[str, Any]) -> tuple[bool, dict[str, Any]]:
        """An answer's text and its data are the same."""
        result = await self.client.call_tool(tool, arguments)
        [content] = result.content
        assert isinstance(content, TextContent)
        assert json.loads(content.text) == result.structured_content
        return result.is_error, result.structured_content or {}

    async def tools(self) -> dict[str, tuple[Tool, ToolAnnotations]]:
        """The tools that are listed, with their hints."""
        listed = (await self.client.list_tools()).tools
        return {tool.name: (tool, tool.annotations or ToolAnnotations()) for tool in listed}

    async def resource(self, uri: str) -> str:
        """The text of a resource, which is JSON."""
        [content] = (await self.client.read_resource(uri)).contents
        assert isinstance(content, TextResourceContents)
        assert content.mime_type == "application/json"
        return content.text

    async def prompt(self, **arguments: str) -> str:
        """The text of the one prompt."""
        [listed] = (await self.client.list_prompts()).prompts
        [message] = (await self.client.get_prompt(listed.name, arguments)).messages
        assert isinstance(message.content, TextContent)
        return message.content.text


class Slow:
    """An embedder that never answers, and records that it was asked and cancelled."""

    name, dimensions = "slow", 32

    def __init__(self) -> None:
        self.asked, self.cancelled = asyncio.Event(), asyncio.Event()

    async def embed(self, texts, *, input_type):
        self.asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise


@asynccontextmanager
async def asking(server) -> AsyncIterator[Asked]:
    async with Client(server) as client:
        yield Asked(client)


async def team_engine(batch=BATCH) -> GraphSearchEngine:
    embedder = HashEmbedder(32)
    vectors = {entity.id: embedder.vector(entity.name) for entity in batch.entities}
    vectors |= {memory.id: embedder.vector(memory.text) for memory in batch.memories}
    store = InMemoryGraphStore(clock=FixedClock(day(100))).with_scope(org_id="acme", project_id="web")
    await store.bind_embedder(embedder.name, embedder.dimensions)
    await store.write(attrs.evolve(batch, vectors=vectors))
    return GraphSearchEngine(store=store, embedder=embedder)


def surface_over(engine, **options) -> GraphService:
    return GraphService(**{"engine_of": lambda _: engine, "authorizer": CedarAuthorizer.default(), **options})


def server_for(engine, principal=EDITOR, **options):
    return make_server(surface_over(engine, **options), Identity(principal, SCOPE))


@pytest.fixture
async def engine():
    return await team_engine()


@pytest.fixture
def tokens(tmp_path):
    return TokenMap.read(token_file(tmp_path, {"tokens": ENTRIES, "disabled": DISABLED}), SCOPE)
