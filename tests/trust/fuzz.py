"""Inputs that nobody would write are read, or refused with a typed error; see `tests.trust.fuzz_inputs`.

    python -m tests.trust.fuzz 1000000

prints, as JSON, how many inputs of each kind were read and how many were refused; a failure is shrunk and printed.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Final

import attrs
import httpx2
from hypothesis import HealthCheck, Phase, given, seed, settings

from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import EmbeddingModelError, GraphSearchError, InvalidInputError, PolicyError
from graphsearch.ingest.extract.code import definitions, extractor
from graphsearch.ingest.extract.extraction import UnreadableError
from graphsearch.ingest.reading.extractor import TextExtractor
from graphsearch.ingest.sources.json_lines import read_line
from graphsearch.ingest.sources.memory_files import read_memories
from graphsearch.ingest.sources.python_files import decoded
from graphsearch.integrations.http.app import PATH, http_app
from graphsearch.integrations.mcp.server import make_server
from graphsearch.model import Principal, Scope
from graphsearch.moving import export_scope, import_scope
from graphsearch.moving.scope_file import count_record, line_of, no_counts, object_of, record_of
from graphsearch.operations.operation import Operation
from graphsearch.operations.service import GraphService, Identity
from graphsearch.operations.serving import Desk
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.testing.fakes import FixedClock, HashEmbedder, WordCounter
from tests.integrations.team import CEDAR, engine_over
from tests.tools import Tool
from tests.trust.fuzz_inputs import INITIALIZE, ROOT, SAMPLES, inputs
from tests.waiting import LONGEST

SCHEMA: Final = (ROOT / "authz/policies/schema.cedarschema").read_text()
BATCH: Final = 5_000
"""Examples drawn from one seed, and given to one graph."""
SCOPE: Final = Scope("acme", "web")
WHO: Final = Identity(Principal(id="ada", attributes={"role": "editor"}, projects=(SCOPE,)), SCOPE)


@attrs.define
class Targets:
    """What reads the inputs. Each returns whether the input was read; every error that is not typed escapes."""

    folder: Path
    engine: GraphSearchEngine
    http: httpx2.AsyncClient
    service: GraphService
    number: int = 0

    async def read(self, kind: str, content: bytes) -> bool:
        """Give an input to the reader of its kind."""
        reading: Callable[[bytes], Awaitable[bool]] = getattr(self, f"_{kind.replace(' ', '_')}")
        return await reading(content)

    async def _json_lines(self, content: bytes) -> bool:
        try:
            for number, line in enumerate(content.split(b"\n"), 1):
                read_line(line, path="f.jsonl", line=number, memory_id="file:f.jsonl")
        except UnreadableError:
            return False
        return True

    async def _scope(self, content: bytes) -> bool:
        """An import of the lines with a trailer that fits them; what is imported can be asked, and exported again.

        What signatures name of others is taken as it is, so that gates meet signatures which name nothing that exists.
        """
        path = self.folder / "f.scope"
        path.write_bytes(sealed(content))
        store = InMemoryGraphStore(clock=FixedClock()).with_scope(org_id="acme", project_id="web")
        try:
            await import_scope(store, path)
        except GraphSearchError:
            return False
        engine = GraphSearchEngine(store=store, embedder=HashEmbedder())
        with suppress(EmbeddingModelError):  # of a file that names another model
            for gate in (None, Gate(CEDAR, WHO.principal)):
                await engine.search("what does Ada know?", gate=gate)
                await engine.recall("what does Ada know?", gate=gate)
        await export_scope(store, path)
        return True

    async def _memories(self, content: bytes) -> bool:
        return await self._remembered(content, ".jsonl")

    async def _transcript(self, content: bytes) -> bool:
        return await self._remembered(content, ".json")

    async def _markdown(self, content: bytes) -> bool:
        return await self._remembered(content, ".md")

    async def _remembered(self, content: bytes, suffix: str) -> bool:
        path = self.folder / f"f{suffix}"
        path.write_bytes(content)
        try:
            await TextExtractor().extract(read_memories(path))
        except GraphSearchError:
            return False
        return True

    async def _python(self, content: bytes) -> bool:
        try:
            outline = definitions.outline("pkg/f.py", decoded("pkg/f.py", content))
        except UnreadableError:
            return False
        index = definitions.Index()
        index.add(outline)
        extractor.described(outline)
        extractor.extract(outline, index)
        return True

    async def _policy(self, content: bytes) -> bool:
        try:
            CedarAuthorizer(content.decode(errors="replace"), SCHEMA)
        except PolicyError:
            return False
        return True

    async def _tool(self, content: bytes) -> bool:
        try:
            arguments = json.loads(content)
        except (ValueError, RecursionError):
            return False
        if not isinstance(arguments, dict):
            return False
        self.number += 1
        rows = Desk(self.service).rows()
        fitting = [each for each in rows if _required(each) <= arguments.keys()] or rows
        tool = fitting[self.number % len(fitting)]
        accepted = {each.name: arguments[each.name] for each in attrs.fields(tool.request) if each.name in arguments}
        extra = {} if self.number % 5 else arguments  # at times with what it does not accept
        try:
            answer = await Tool(tool.name).run(self.service.caller(WHO), {**accepted, **extra})
        except GraphSearchError:
            return False
        json.dumps(answer)
        return True

    async def _http(self, content: bytes) -> bool:
        answer = await asyncio.wait_for(self.http.post(PATH, content=content), LONGEST)
        assert answer.status_code < 500, answer.text
        assert "InternalError" not in answer.text
        return answer.status_code == 200


def sealed(content: bytes) -> bytes:
    """The lines of a scope, whatever they are, with a trailer that fits them."""
    *lines, _ = content.split(b"\n")
    counts = no_counts()
    for line in lines[1:]:
        with suppress(InvalidInputError):
            count_record(record_of(object_of(line)), counts)
    body = b"".join(line + b"\n" for line in lines)
    return body + line_of({"end": {"counts": counts, "sha256": hashlib.sha256(body).hexdigest()}})


def _required(tool: Operation) -> set[str]:
    return {each.name for each in attrs.fields(tool.request) if each.default is attrs.NOTHING}


async def targets(stack: AsyncExitStack) -> Targets:
    """Readers over a small graph in memory."""
    engine = await engine_over(InMemoryGraphStore().with_scope(org_id="acme", project_id="web"))
    service = GraphService(engine_of=lambda _: engine, authorizer=CEDAR, counter=WordCounter())
    app = http_app(make_server(service, WHO), host="127.0.0.1")
    await stack.enter_async_context(app.router.lifespan_context(app))
    transport = httpx2.ASGITransport(app=app)
    headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    http = httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers)
    await stack.enter_async_context(http)
    http.headers["mcp-session-id"] = (await http.post(PATH, json=INITIALIZE)).headers["mcp-session-id"]
    folder = stack.enter_context(tempfile.TemporaryDirectory())
    return Targets(Path(folder), engine, http, service)


async def fuzz(kind: str, count: int, start: int = 0) -> Mapping[str, int]:
    """Draw that many inputs of a kind; return how many were read and how many refused."""
    found: Counter[str] = Counter()
    loop = asyncio.get_running_loop()
    for number in range(0, count, BATCH):
        async with AsyncExitStack() as stack:
            reading = await targets(stack)

            def read(content: bytes, reading: Targets = reading) -> bool:
                return asyncio.run_coroutine_threadsafe(reading.read(kind, content), loop).result()

            await asyncio.to_thread(draw, kind, min(BATCH, count - number), start + number, read, found)
    return found


def draw(kind: str, count: int, number: int, read: Callable[[bytes], bool], found: Counter[str]) -> None:
    """Draw inputs from a seed and read each of them."""

    @seed(number)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
        phases=[Phase.generate, Phase.shrink],
    )
    @given(content=inputs(kind))
    def one(content: bytes) -> None:
        found["read" if read(content) else "refused"] += 1

    one()


async def main(count: int, start: int = 0) -> None:
    """Fuzz every kind with a share of the inputs."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    found = {kind: dict(await fuzz(kind, -(-count // len(SAMPLES)), start)) for kind in SAMPLES}
    print(json.dumps({"inputs": sum(sum(each.values()) for each in found.values()), **found}))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
