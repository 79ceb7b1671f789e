"""Calls that are cancelled at any of their steps: their connections serve on, and what they change is done or undone.

A step is a moment at which a task of the loop waits. Each call is cancelled at one of its own steps by chance,
sometimes again and again while it ends, and sometimes beside others' calls, which must not notice. Afterwards every
connection of the pool has to serve.

    python -m tests.trust.cancellations 5000 [SIZE]
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterator, Mapping
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch
from uuid import UUID

import attrs
import psycopg
from psycopg import waiting

from graphsearch.access.gate import ALLOW_ALL
from graphsearch.curation import Curator
from graphsearch.engine import GraphSearchEngine
from graphsearch.federation.engine import FederatedEngine
from graphsearch.model import Batch, Entity, Memory, Merge
from graphsearch.modes.result import SearchRequest
from graphsearch.moving import export_scope
from graphsearch.ranking.entity_ranking import Ranking
from graphsearch.ranking.recall_result import RecallRequest
from graphsearch.stores.embedded import EmbeddedPostgres
from graphsearch.stores.in_postgres.index import upkeep
from graphsearch.stores.postgres import PostgresGraphStore, ScopedPostgresStore
from graphsearch.testing.fakes import EchoLLM, FixedClock
from tests.graphs import days_ago
from tests.integrations.team import DANA, EMBEDDER, PRIYA, SARAH, SEARCH
from tests.trust import kills
from tests.trust.changes import CHANGES as CHANGES_BY_TOOL
from tests.trust.kills import BULK, TOOLS, prepare, seen
from tests.trust.noninterference import MODES
from tests.trust.questions import QUESTIONS, Side, Subject, answer

_OLD: Final = Memory(id="m0", text="Dana Levy knows Sarah Chen.", occurred_at=days_ago(100), source="chat")
Read = Callable[[Side, Subject], Awaitable[Any]]
Write = Callable[[GraphSearchEngine], Awaitable[Any]]

# -- steps --------------------------------------------------------------------------------------------------------


@attrs.define(eq=False)
class Steps:
    """Counts the steps of all tasks, and cancels one task at the given ones."""

    victim: asyncio.Future[Any] | None = None
    taken: int = 0
    at: list[int] = attrs.field(factory=list)

    def take(self) -> None:
        """A task is about to wait."""
        self.taken += 1
        if self.victim is not None and self.at and self.taken >= self.at[0]:
            self.victim.cancel()
            self.at.pop(0)

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the steps of the tasks that are made inside."""
        loop = asyncio.get_running_loop()
        before = loop.get_task_factory()

        def counted(loop: asyncio.AbstractEventLoop, coroutine: Any, **how: Any) -> asyncio.Task[Any]:
            return asyncio.Task(_Counted(coroutine, self), loop=loop, **how)

        loop.set_task_factory(counted)
        try:
            yield
        finally:
            loop.set_task_factory(before)

    async def run(self, call: Awaitable[Any], *at: int) -> bool:
        """Run a call, cancelled after so many steps; whether it has ended by that."""
        self.taken, self.at = 0, list(at)
        self.victim = asyncio.ensure_future(call)
        try:
            await asyncio.wait([self.victim])
            if self.victim.cancelled():
                return True
            self.victim.result()  # raises an error of the call's own
            return False
        finally:
            self.victim = None


@attrs.frozen(eq=False)
class _Counted(Coroutine[Any, Any, Any]):
    """A coroutine of which each wait is counted."""

    coroutine: Coroutine[Any, Any, Any]
    steps: Steps

    def send(self, value: Any) -> Any:
        awaited = self.coroutine.send(value)
        self.steps.take()
        return awaited

    def throw(self, *error: Any) -> Any:
        awaited = self.coroutine.throw(*error)
        self.steps.take()
        return awaited

    def close(self) -> None:
        self.coroutine.close()

    def __await__(self) -> Generator[Any, Any, Any]:
        return self.coroutine.__await__()


# -- calls --------------------------------------------------------------------------------------------------------


def side_of(store: ScopedPostgresStore) -> Side:
    """The owner of a scope."""
    llm = EchoLLM()
    return Side(GraphSearchEngine(store=store, embedder=EMBEDDER, llm=llm), ALLOW_ALL, llm)


def _subject(rng: random.Random) -> Subject:
    one, other = rng.sample([each.name for each in (PRIYA, SARAH, DANA, SEARCH)], 2)
    memory = rng.choice(["m-report", "m-lead", "m-forged"])
    return Subject(one, other, memory, UUID(int=0), rng.choice(MODES), rng.choice(list(Ranking)))


async def _search_and_recall(side: Side, about: Subject) -> None:
    await side.engine.search_and_recall(SearchRequest(about.query, mode=about.mode), RecallRequest(about.query))


async def _several_scopes(side: Side, about: Subject) -> None:
    store = side.engine.store
    assert isinstance(store, ScopedPostgresStore)
    other = ScopedPostgresStore(attrs.evolve(store.scope, project_id="other"), store._gateway, store.clock, exact=True)
    engine = FederatedEngine([side.engine, GraphSearchEngine(store=other, embedder=EMBEDDER)])
    await engine.search_and_recall(SearchRequest(about.query, mode=about.mode), RecallRequest(about.query))


async def _export(side: Side, about: Subject) -> None:
    del about
    with tempfile.TemporaryDirectory() as folder:
        await export_scope(side.engine.store, Path(folder) / "scope.jsonl")


READS: Final[Mapping[str, Read]] = {
    **{name: each for name, each in QUESTIONS.items() if not name.startswith("rest ")},  # as tools run
    "search_and_recall": _search_and_recall, "several scopes": _several_scopes, "export": _export,
}  # fmt: skip


def _by_tool(name: str) -> Write:
    async def make(engine: GraphSearchEngine) -> None:
        about = Subject(PRIYA.name, SARAH.name, "m-lead", UUID(int=0), MODES[0], Ranking.RRF)
        await CHANGES_BY_TOOL[name](Side(engine, ALLOW_ALL, EchoLLM()), about)

    return make


async def _undo(engine: GraphSearchEngine) -> None:
    made: list[Merge] = list(await engine.store.merges())
    await Curator(engine).undo_merge(made[-1].id)


async def _measure(engine: GraphSearchEngine) -> None:
    await Curator(engine).graph_health()


async def _copy(engine: GraphSearchEngine) -> None:
    """As many entities as are copied in two parts, and looked up by a sample."""
    entities = [Entity(type="tool", name=f"new {number}") for number in range(2_600)]
    await engine.store.write(Batch(entities=entities))


_STEPWISE: Final[Mapping[str, Write]] = {
    "ingest": kills.CHANGES["ingest"],
    **{name: _by_tool(name) for name in ("tool remember", "tool feedback", "tool undo_merge", "tool register_type")},
}
"""Several transactions, or a block before the change."""
ATOMIC: Final[Mapping[str, Write]] = {
    **{name: make for name, make in kills.CHANGES.items() if name in kills.ATOMIC},
    **{name: _by_tool(name) for name in CHANGES_BY_TOOL if name not in {*_STEPWISE, "tool merge_entities"}},
    "undo": _undo, "health": _measure, "copy": _copy,
}  # fmt: skip
WRITES: Final[Mapping[str, Write]] = {**_STEPWISE, **ATOMIC}


_REPORTED: Final = 100

# -- cancellations ------------------------------------------------------------------------------------------------


@attrs.define
class Cancelling:
    """Cancellations on one store. ``takes``: the steps of each call; ``after``: the state after each change."""

    graph: PostgresGraphStore
    rng: random.Random
    steps: Steps = attrs.field(factory=Steps)
    takes: dict[str, int] = attrs.field(factory=dict)
    before: Any = None
    after: dict[str, Any] = attrs.field(factory=dict)
    numbers: Counter[str] = attrs.field(factory=Counter)

    def scope(self, project: str) -> ScopedPostgresStore:
        """A scope of the store."""
        return self.graph.with_scope(org_id="acme", project_id=project)

    @property
    def size(self) -> int:
        """The connections that the pool may have."""
        return self.graph._gateway.pool.max_size

    @property
    def opened(self) -> int:
        """The connections that the pool ever made."""
        return self.graph._gateway.pool.get_stats()["connections_num"]

    async def prepare(self, project: str) -> ScopedPostgresStore:
        """A scope as it is before each change."""
        store = self.scope(project)
        await prepare(store)
        await store.write(Batch(memories=[_OLD]))
        await Curator(GraphSearchEngine(store=store, embedder=EMBEDDER)).merge_entities(TOOLS[0].id, TOOLS[1].id)
        return store

    async def measure(self, name: str) -> None:
        """Make a call once without a disturbance."""
        if name in READS:
            await self.steps.run(answer(READS[name], side_of(self.scope("asked")), _subject(self.rng)))
            self.takes[name] = self.steps.taken
            return
        store = await self.prepare(f"whole {name}")
        await self.steps.run(WRITES[name](side_of(store).engine))
        self.takes[name], self.after[name] = self.steps.taken, await seen(store)
        await store.remove_scope()

    async def cancel(self, name: str) -> None:
        """Cancel a call once or twice. Raises `AssertionError` where anything else goes wrong by it."""
        if name not in self.takes:
            await self.measure(name)
        self.numbers["calls"] += 1
        project = f"{name} {self.size} {self.numbers['calls']}"
        at = [self.rng.randrange(1, self.takes[name] + 2)]
        at += range(at[0] + 1, at[0] + self.rng.choice((0, 0, 2, 40, 1_000)))  # some frameworks insist
        busy = self.rng.random() < 0.5  # each answer of the server lets other tasks run before it is used
        beside = self.rng.randrange(3) if self.rng.random() < 0.3 else 0
        with patch.object(waiting, "MAX_BUSY_TIME", 0.0 if busy else waiting.MAX_BUSY_TIME):
            others = [asyncio.ensure_future(self._undisturbed()) for _ in range(beside)]
            cancelled = await (self._write(name, project, at) if name in WRITES else self._read(name, at))
            await asyncio.gather(*others)
        self.numbers["cancelled" if cancelled else "ended before"] += 1
        self.numbers["cancelled again"] += len(at) > 1
        await self.serves()

    async def _undisturbed(self) -> None:
        await answer(QUESTIONS["block"], side_of(self.scope("asked")), _subject(self.rng))

    async def _read(self, name: str, at: list[int]) -> bool:
        return await self.steps.run(answer(READS[name], side_of(self.scope("asked")), _subject(self.rng)), *at)

    async def _write(self, name: str, project: str, at: list[int]) -> bool:
        store = await self.prepare(project)
        cancelled = await self.steps.run(WRITES[name](side_of(store).engine), *at)
        found = await seen(store)
        untouched, finished = found == self.before, found == self.after[name]
        self.numbers["untouched" if untouched else "finished" if finished else "between"] += 1
        assert untouched or finished or name not in ATOMIC, f"{name}, cancelled at {at}: half done"
        assert finished or cancelled, f"{name}, cancelled at {at}: what was reported as done is lost"
        await store.remove_scope()
        return cancelled

    async def serves(self) -> None:
        """Use every connection that the pool may have, all at once."""
        everybody = asyncio.Barrier(self.size)

        async def use() -> None:
            store = self.scope("asked")
            async with store.snapshot():
                await everybody.wait()
                await asyncio.gather(store.get_entities([PRIYA.id]), store.statistics())

        async with asyncio.TaskGroup() as group:
            for _ in range(self.size):
                group.create_task(use())


async def cancellations(dsn: str, counts: Mapping[int, int], seed: int = 0) -> AsyncIterator[Mapping[str, int]]:
    """Cancel so many calls on a pool of each size: each call in turn, then reads again; what was found so far."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    first, more = [*READS, *WRITES], [*READS] * 3
    names = cycle(rng.sample(first, len(first)) + rng.sample(more, len(more)))
    takes, after, before = dict[str, int](), dict[str, Any](), None
    with patch.object(upkeep, "WAITING", BULK):
        for size, count in counts.items():
            async with PostgresGraphStore.open(dsn, clock=FixedClock(), exact=True, max_connections=size) as graph:
                cancelling = Cancelling(graph, rng, takes=takes, after=after)
                if before is None:
                    [before, _] = [await seen(await cancelling.prepare(project)) for project in ("asked", "other")]
                cancelling.before = before
                with cancelling.steps.counted():
                    await cancelling.serves()
                    already = cancelling.opened
                    for number in range(1, count + 1):
                        await cancelling.cancel(next(names))
                        if number % _REPORTED == 0 or number == count:
                            opened, left = cancelling.opened - already, await sessions(dsn, size)
                            yield {"pool": size, **cancelling.numbers, "opened": opened, "sessions": left}


async def sessions(dsn: str, most: int) -> int:
    """The sessions on a database beside this one, once the server has noticed which were closed."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        found = 0
        for _ in range(200):
            [(found,)] = await (await connection.execute(query)).fetchall()
            if found <= most:
                break
            await connection.execute("SELECT pg_sleep(0.05)")
        return int(found)


async def main(count: int, *sizes: int) -> None:
    """Cancel as many calls on a pool of one connection, of two, and of eight."""
    logging.getLogger("psycopg").setLevel(logging.ERROR)  # each discarded connection is a warning
    counts = dict.fromkeys(sizes or (1, 2, 8), -(-count // len(sizes or (1, 2, 8))))
    with tempfile.TemporaryDirectory(prefix="graphsearch-", ignore_cleanup_errors=True) as folder:
        async with EmbeddedPostgres(Path(folder) / "data", settings={"fsync": "off"}) as server:
            async for found in cancellations(server.dsn, counts):
                print(json.dumps(found), flush=True)  # noqa: T201 - the result of a command


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
