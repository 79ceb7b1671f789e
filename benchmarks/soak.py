"""Eight clients of all kinds on one embedded server, for minutes or hours: nothing grows, slows down or fails.

    python -m benchmarks.soak --minutes 60

Two read, two write, one builds blocks and reports outcomes, one forgets as much as is written, one curates, and one
asks over MCP. Prints for each minute the 95th percentile of each kind of call, errors, memory and sizes of folders, as
JSON, with a verdict on the last third of the minutes against the first.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import tempfile
import time
from collections import Counter, defaultdict, deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from typing import Any, Final
from uuid import uuid4

import attrs
import numpy as np
import psutil  # type: ignore[import-untyped]
from mcp import Client

from benchmarks.measuring import rounded
from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.curation import Curator
from graphsearch.embedders import WordLlamaEmbedder
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import GraphSearchError, UnknownElementError
from graphsearch.ingest import Ingestor
from graphsearch.integrations.mcp.server import make_server
from graphsearch.model import Memory, Outcome, Principal, Scope
from graphsearch.operations.service import GraphService, Identity
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.postgres import PostgresGraphStore

SCOPE: Final = Scope("acme", "soak")
KEPT: Final = 600
"""The number of memories at the start; later ones make the oldest forgotten."""
PAUSE: Final = 0.2
"""Seconds between two calls of a client."""
SLOWER: Final = 2.0
"""The factor by which the slowest calls may slow down."""
MEMORY: Final = 1.25
"""The factor by which the memory of the clients may grow, from the first third of the minutes to the last."""
_FIRST: Final = ("Ada", "Bob", "Cyd", "Dan", "Eve", "Fay")
_PEOPLE: Final = [f"{first} {last}" for first in _FIRST for last in ("Moss", "Vale")]
_PLACES: Final = ["Acme Inc.", "Globex Corp.", "Initech Ltd.", "Umbrella Corp."]
_TOOLS: Final = ["Postgres", "Redis", "Kafka", "Terraform"]
_MEGABYTE: Final = 1 << 20
_SHOWN: Final = 200
"""The most characters of an error that is shown."""


@attrs.define
class Minute:
    """What happened in one minute."""

    took: dict[str, list[float]] = attrs.field(factory=lambda: defaultdict(list))
    errors: Counter[str] = attrs.field(factory=Counter)

    def shown(self) -> dict[str, Any]:
        """Calls, the 95th percentile in milliseconds by kind of call, and errors by kind of error."""
        p95 = {name: rounded(1000 * float(np.percentile(times, 95))) for name, times in sorted(self.took.items())}
        return {"calls": sum(map(len, self.took.values())), "p95_ms": p95, "errors": dict(self.errors)}


@attrs.define
class Soak:
    """The clients, and the minutes that have passed."""

    engine: GraphSearchEngine
    client: Client
    stop: asyncio.Event = attrs.field(factory=asyncio.Event)
    minute: Minute = attrs.field(factory=Minute)
    written: deque[str] = attrs.field(factory=deque)
    rng: random.Random = attrs.field(factory=lambda: random.Random(7))
    gate: Gate = attrs.field(factory=lambda: Gate(CedarAuthorizer.default(), Principal(id="ada", projects=(SCOPE,))))

    def clients(self) -> list[tuple[str, Callable[[], Awaitable[object]]]]:
        """All of them, by what they do."""
        return [
            ("search", lambda: self.engine.search(self._question(), gate=self.gate)),
            ("recall", lambda: self.engine.recall(self._question(), gate=self.gate)),
            ("remember", self._remember),
            ("remember", self._remember),
            ("feedback", self._session),
            ("forget", self._forget),
            ("curate", self._curate),
            ("mcp", self._ask),
        ]

    async def fill(self) -> None:
        """Write what is there at the start."""
        await self._remember(KEPT // 3)

    async def run(self, name: str, call: Callable[[], Awaitable[object]]) -> None:
        """Call again and again until the end."""
        while not self.stop.is_set():
            begun = time.perf_counter()
            try:
                await call()
            except GraphSearchError as error:
                self.minute.errors[f"{type(error).__name__}: {error}"[:_SHOWN]] += 1
            except Exception as error:  # noqa: BLE001 - counted, and part of the verdict
                self.minute.errors[f"untyped {type(error).__name__}: {error}"[:_SHOWN]] += 1
            self.minute.took[name].append(time.perf_counter() - begun)
            await asyncio.sleep(0 if name == "forget" and len(self.written) > KEPT else PAUSE)

    def _question(self) -> str:
        person, place = self.rng.choice(_PEOPLE), self.rng.choice(_PLACES)
        return self.rng.choice([f"where does {person} work?", f"who works at {place}?", f"what does {person} use?"])

    async def _remember(self, times: int = 1) -> None:
        memories: list[Memory] = []
        for _ in range(times):
            person, place, tool = self.rng.choice(_PEOPLE), self.rng.choice(_PLACES), self.rng.choice(_TOOLS)
            texts = [f"{person} works at {place}.", f"{person} uses {tool}.", f"{tool} broke at {place} again."]
            memories += [Memory(id=str(uuid4()), text=text, occurred_at=datetime.now(UTC)) for text in texts]
        await Ingestor(self.engine).remember(memories)
        self.written.extend(memory.id for memory in memories)

    async def _session(self) -> None:
        builder, session = ContextBuilder(self.engine), str(uuid4())
        await builder.build(self._question(), gate=self.gate, session_id=session)
        await builder.feedback(session, self.rng.choice(list(Outcome)), gate=self.gate)

    async def _forget(self) -> None:
        """Forget one memory; `run` does not pause while more than `KEPT` are left."""
        if len(self.written) > KEPT:
            await Curator(self.engine).forget(memory=self.written.popleft())

    async def _curate(self) -> None:
        curator = Curator(self.engine)
        found = await curator.search_entities(self.rng.choice(_PEOPLE), type="person", limit=2)
        if len(found) > 1 and self.rng.random() < 0.2:  # noqa: PLR2004 - one in five
            try:
                merged = await curator.merge_entities(found[1].entity.id, found[0].entity.id)
                await curator.undo_merge(merged.id)
            except UnknownElementError:  # forgotten in between
                return
        await self.engine.store.settle()

    async def _ask(self) -> None:
        tool = self.rng.choice(["graph_query", "recall"])
        answer = await self.client.call_tool(tool, {"query": self._question()})
        if answer.is_error:
            self.minute.errors[f"mcp {answer.structured_content}"] += 1


def sizes(folder: Path) -> dict[str, float]:
    """Megabytes of this process, of the server's processes without what they share, and of the server's folder."""
    server = psutil.Process(int((folder / "postmaster.pid").read_text(encoding="utf-8").split()[0]))
    total = 0
    for process in (server, *server.children()):
        try:
            memory = process.memory_info()
            total += memory.rss - memory.shared
        except psutil.NoSuchProcess:
            continue
    held, log = _bytes(folder), _bytes(folder / "pg_wal")
    clients = psutil.Process().memory_info().rss
    figures = {"clients_mb": clients, "server_mb": total, "folder_mb": held - log, "log_mb": log}
    return {name: rounded(each / _MEGABYTE) for name, each in figures.items()}


def _bytes(folder: Path) -> int:
    """The size of all files below a folder; the server removes some while they are looked at."""
    total = 0
    for file in folder.rglob("*"):
        with suppress(FileNotFoundError):
            total += file.stat().st_size if file.is_file() else 0
    return total


def verdict(minutes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The last third of the minutes against the first; the first minute, in which all is new, does not count."""
    counted = minutes[1:] if len(minutes) > 3 else minutes  # noqa: PLR2004 - at least three thirds
    third = max(1, len(counted) // 3)
    first, last = counted[:third], counted[-third:]

    def grown(*path: str) -> float:
        late, early = (mean(_figure(minute, *path) for minute in part) for part in (last, first))
        return round(late / max(early, 1e-9), 2)

    kinds = sorted(set.intersection(*(set(minute["p95_ms"]) for minute in (*first, *last))))
    slower = {kind: grown("p95_ms", kind) for kind in kinds}
    memory = grown("clients_mb")
    errors = sum(sum(minute["errors"].values()) for minute in minutes)
    return {
        "errors": errors,
        "clients_memory_growth": memory,
        "p95_growth": slower,
        "target": f"0 errors, memory <= {MEMORY}, each p95 <= {SLOWER}",
        "met": errors == 0 and memory <= MEMORY and max(slower.values(), default=0) <= SLOWER,
    }


def _figure(minute: Mapping[str, Any], *path: str) -> float:
    found: Any = minute
    for key in path:
        found = found[key]
    return float(found)


async def soak(seconds: float, minute: float = 60.0, folder: Path | None = None) -> dict[str, Any]:
    """Run all clients for so long; ``minute`` is the number of seconds after which figures are taken.

    ``folder`` is the server's, or None for a new one that is removed at the end.
    """
    async with AsyncExitStack() as stack:
        if folder is None:
            new = tempfile.TemporaryDirectory(prefix="graphsearch", ignore_cleanup_errors=True)
            folder = Path(stack.enter_context(new), "data")
        server = await stack.enter_async_context(EmbeddedPostgres(folder))
        graph = await stack.enter_async_context(PostgresGraphStore.open(server.dsn))
        store = graph.with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
        engine = GraphSearchEngine(store=store, embedder=WordLlamaEmbedder())
        service = GraphService(engine_of=lambda _: engine, authorizer=CedarAuthorizer.default())
        identity = Identity(Principal(id="ada", projects=(SCOPE,)), SCOPE)
        client = await stack.enter_async_context(Client(make_server(service, identity)))
        running = Soak(engine, client)
        await running.fill()
        working = [asyncio.ensure_future(running.run(*each)) for each in running.clients()]
        minutes: list[dict[str, Any]] = []
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > minute / 10:
            await asyncio.sleep(min(minute, left))
            passed, running.minute = running.minute, Minute()
            held = {"memories": (await store.statistics()).memories, "load": rounded(os.getloadavg()[0])}
            minutes.append({**passed.shown(), **await asyncio.to_thread(sizes, folder), **held})
        running.stop.set()
        await asyncio.gather(*working)
    return {"benchmark": "soak", "clients": len(working), "minutes": minutes, **verdict(minutes)}


def main(given: Sequence[str] | None = None) -> None:
    """Run for the minutes that are given."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long to run")
    found = asyncio.run(soak(60 * parser.parse_args(given).minutes))
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
