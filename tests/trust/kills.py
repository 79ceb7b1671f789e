"""Clients and servers that are killed in the middle of a change, at a random moment.

Afterwards the graph is as before or as after the change; whoever repeats the change ends where an undisturbed one does.
A killed client is a process; a killed server is one of the server's processes, upon which it ends all connections and
recovers from its log.

    python -m tests.trust.kills 200
"""

from __future__ import annotations

import asyncio
import json
import logging
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Any, Final

import attrs
import psycopg

from graphsearch.context import ContextBuilder
from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.errors import InvalidInputError, StoreUnavailableError
from graphsearch.ingest import Ingestor
from graphsearch.ingest.write.writer import Writer
from graphsearch.model import Batch, Entity, Memory, Outcome, Relation
from graphsearch.model.stored import RecordKind, StoredEntity, StoredMemory, StoredRelation, key_of
from graphsearch.moving import import_scope
from graphsearch.reembedding import reembed
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.in_postgres.index import upkeep
from graphsearch.stores.postgres import PostgresGraphStore, ScopedPostgresStore
from graphsearch.testing.fakes import NOON, FixedClock, HashEmbedder, WordCounter
from graphsearch.testing.samples import portrait
from tests.integrations.team import EMBEDDER, PRIYA, SARAH, engine_over, member
from tests.waiting import LONGEST, until_then

QUESTION: Final = "who does Priya report to?"
SCOPE_FILE: Final = Path(__file__).parents[1] / "moving" / "exports" / "scope.jsonl"
OTHER: Final = HashEmbedder(24)
"""The model that a scope is changed to."""
BULK: Final = 20
"""A write of so many elements is settled later; less than in use, so that states are compared quickly."""
TOOLS: Final = tuple(Entity(type="tool", name=f"tool {number}") for number in range(2 * BULK))
NEW: Final = tuple(
    Memory(id=f"new-{number}", text=text, occurred_at=NOON)
    for number, text in enumerate(
        ("Grace Hopper works at Acme.", "Ada Lovelace leads Kestrel.", "Grace Hopper knows Ada Lovelace.")
    )
)


async def _ingest(engine: GraphSearchEngine) -> None:
    await Ingestor(engine).remember(NEW)


async def _settle(engine: GraphSearchEngine) -> None:
    await engine.store.settle()


async def _merge(engine: GraphSearchEngine) -> None:
    with suppress(InvalidInputError):  # it was merged already
        await Curator(engine).merge_entities(PRIYA.id, SARAH.id)


async def _forget(engine: GraphSearchEngine) -> None:
    await engine.store.forget(["m-lead", "m-report"])


async def _feedback(engine: GraphSearchEngine) -> None:
    await ContextBuilder(engine, counter=WordCounter()).feedback("s1", Outcome.ACCEPTED, gate=member(engine.store))


async def _import(engine: GraphSearchEngine) -> None:
    await import_scope(engine.store, SCOPE_FILE, replace=True)


async def _reembed(engine: GraphSearchEngine) -> None:
    await reembed(engine.store, OTHER, batch=8)


CHANGES: Final[Mapping[str, Callable[[GraphSearchEngine], Awaitable[None]]]] = {
    "ingest": _ingest, "import": _import, "settle": _settle, "merge": _merge, "forget": _forget, "feedback": _feedback,
    "reembed": _reembed,
}  # fmt: skip
ATOMIC: Final = frozenset({"import", "settle", "merge", "forget", "feedback", "reembed"})
"""Changes of one transaction, or of which only one shows. An ingest may stop between several, and continues from there.
"""


@asynccontextmanager
async def opened(dsn: str, project: str) -> AsyncIterator[ScopedPostgresStore]:
    """The scope of a kill."""
    upkeep.WAITING = BULK  # type: ignore[misc]
    async with PostgresGraphStore.open(dsn, clock=FixedClock(), exact=True, max_connections=2) as graph:
        yield graph.with_scope(org_id="acme", project_id=project)


async def prepare(store: ScopedPostgresStore) -> None:
    """The graph before each change: a team, a session that was shown something, and tools that are not settled."""
    engine = await engine_over(store)
    await ContextBuilder(engine, counter=WordCounter()).build(QUESTION, gate=member(store), session_id="s1")
    relations = [Relation(source_id=PRIYA.id, type="uses", target_id=tool.id) for tool in TOOLS]
    vectors = {tool.id: EMBEDDER.vector(tool.name) for tool in TOOLS}
    await store.write(Batch(entities=TOOLS, relations=relations, vectors=vectors))


def change(dsn: str, project: str, name: str, started: Any) -> None:
    """What the process does that is killed."""

    async def run() -> None:
        async with opened(dsn, project) as store:
            engine = GraphSearchEngine(store=store, embedder=EMBEDDER)
            started.set()
            await CHANGES[name](engine)

    asyncio.run(run())


REWRITTEN: Final = attrs.evolve(NEW[0], text="Grace Hopper works at Globex.")


async def rewrite(engine: GraphSearchEngine) -> None:
    """Write a text anew of which "Acme" is gone: an entity that nothing else names."""
    await Ingestor(engine).remember([REWRITTEN])


def rewrite_and_die(dsn: str, project: str) -> None:
    """What the process does that kills itself between writing and pruning."""

    async def die(_: Writer) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    async def run() -> None:
        async with opened(dsn, project) as store:
            Writer.prune = die  # type: ignore[assignment]
            await rewrite(GraphSearchEngine(store=store, embedder=EMBEDDER))

    asyncio.run(run())


@attrs.define
class Killing:
    """Kills on one server. ``after`` and ``takes``: the state after each undisturbed change, and its seconds."""

    dsn: str
    rng: random.Random
    before: Any = None
    after: dict[str, Any] = attrs.field(factory=dict)
    takes: dict[str, float] = attrs.field(factory=dict)
    processes: ForkServerContext = attrs.field(factory=lambda: multiprocessing.get_context("forkserver"))
    numbers: Counter[str] = attrs.field(factory=Counter)

    async def measure(self) -> None:
        """Make each change once without a disturbance."""
        self.processes.set_forkserver_preload([__name__])
        for name, make in CHANGES.items():
            async with opened(self.dsn, f"whole {name}") as store:
                await prepare(store)
                self.before = self.before or await seen(store)
                begun = time.perf_counter()
                await make(GraphSearchEngine(store=store, embedder=EMBEDDER))
                self.takes[name] = time.perf_counter() - begun
                self.after[name] = await seen(store)

    async def kill(self, name: str, whom: str) -> None:
        """Kill a client or the server once. Raises `AssertionError` where something is half done or lost."""
        self.numbers["kills"] += 1
        project = f"{name} {whom} {self.numbers['kills']}"
        async with opened(self.dsn, project) as store:
            await prepare(store)
        delay = self.rng.uniform(0, 1.3 * self.takes[name])
        done = await (self._client(name, project, delay) if whom == "client" else self._server(name, project, delay))
        async with opened(self.dsn, project) as store:
            found = await seen(store)
            untouched, finished = found == self.before, found == self.after[name]
            self.numbers["untouched" if untouched else "finished" if finished else "between"] += 1
            assert untouched or finished or name not in ATOMIC, f"{project}: half done"
            assert finished or not done, f"{project}: what was reported as done is lost"
            await CHANGES[name](GraphSearchEngine(store=store, embedder=EMBEDDER))
            assert await seen(store) == self.after[name], f"{project}: repeated, it ends elsewhere"

    async def _client(self, name: str, project: str, delay: float) -> bool:
        started = self.processes.Event()
        process = self.processes.Process(target=change, args=(self.dsn, project, name, started))
        process.start()
        await asyncio.to_thread(started.wait, LONGEST)
        await asyncio.sleep(delay)
        process.kill()
        await asyncio.to_thread(process.join)
        assert process.exitcode in {0, -signal.SIGKILL}, f"{project}: failed by itself"
        return process.exitcode == 0

    async def _server(self, name: str, project: str, delay: float) -> bool:
        async with opened(self.dsn, project) as store:
            engine = GraphSearchEngine(store=store, embedder=EMBEDDER)
            making = asyncio.ensure_future(CHANGES[name](engine))
            await asyncio.sleep(delay)
            await asyncio.to_thread(crash, self.dsn)
            try:
                await making
                done = True
            except StoreUnavailableError:  # and no other error
                done = False
                self.numbers["errors"] += 1
            await asyncio.to_thread(wait_for, self.dsn)
            await store.statistics()  # the same store works again
            return done


async def seen(store: ScopedPostgresStore) -> Any:
    """All that can be read from a scope."""
    vectors = {
        str(key_of(each)): None if each.vector is None else each.vector.tolist()
        for kind in (RecordKind.ENTITY, RecordKind.MEMORY, RecordKind.RELATION)
        for each in await store.records(kind)
        if isinstance(each, (StoredEntity, StoredMemory, StoredRelation))
    }
    return await portrait(store, questions=(QUESTION,)), vectors


def crash(dsn: str) -> None:
    """Kill a process of the server, and wait until it has ended the others; it then recovers."""
    with psycopg.connect(dsn) as connection, psycopg.connect(dsn) as witness:
        os.kill(connection.info.backend_pid, signal.SIGKILL)
        with suppress(psycopg.Error):
            witness.execute("SELECT pg_sleep(600)")


def wait_for(dsn: str) -> None:
    """Wait until the server has recovered."""

    def answers() -> bool:
        with suppress(psycopg.OperationalError):
            psycopg.connect(dsn, connect_timeout=LONGEST).close()
            return True
        return False

    until_then(answers)


async def kills(dsn: str, count: int, seed: int = 0) -> dict[str, Any]:
    """Kill that many times, in turn each change and each side; return what was found."""
    killing = Killing(dsn, random.Random(seed))  # noqa: S311
    await killing.measure()
    for number in range(count):  # whoever dies takes turns, and so do, of an odd number, the changes of each
        await killing.kill([*CHANGES][number % len(CHANGES)], ("client", "server")[number % 2])
    return dict(sorted(killing.numbers.items()))


async def main(count: int) -> None:
    """Kill on a server of its own, which waits for the disk as in use."""
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # each lost connection is a warning
    with tempfile.TemporaryDirectory(prefix="graphsearch-", ignore_cleanup_errors=True) as folder:
        async with EmbeddedPostgres(Path(folder) / "data") as server:
            print(json.dumps(await kills(server.dsn, count)))  # noqa: T201 - the result of a command


if __name__ == "__main__":
    from tests.trust import kills as module  # by the name under which processes find what they run

    asyncio.run(module.main(int(sys.argv[1])))
