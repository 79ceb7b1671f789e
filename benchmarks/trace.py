"""The way of a question: files, rooms and functions that a search, a recall and a context block cross, and statements.

    python -m benchmarks.trace [N …] [--embedded | --dsn DSN] [--json]

Each is asked twice, and the second time counted. Functions and calls are those of Python code of the package, a room is
a folder at its top. Statements and round trips are read off libpq's own trace of the one connection to Postgres: each
statement that is executed, BEGIN and COMMIT among them, and each time that the client waits for answers.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from types import FrameType
from typing import IO, Any, Final

from psycopg.pq import Trace

import graphsearch
from benchmarks.asking import PRINCIPAL, SCOPE
from benchmarks.command import Setting, run
from benchmarks.graph import Graph, QuestionVectors
from benchmarks.servers import analyse, databases
from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.context import ContextBuilder
from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Batch, Memory, Mention
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore

ROOT: Final = Path(graphsearch.__file__).resolve().parents[1]
LINKED: Final = ("stores", "authz", "context")
"""Rooms that lie beside the package and are linked into it."""
MOST: Final = {"statements": 8, "round_trips": 5}
"""Of a search on Postgres."""

Ask = Callable[[], Awaitable[object]]


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size."""
    workload = setting.make(n)
    memory = InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    await _fill(memory, workload)
    ours = {name: {"memory": await _crossed(ask)} for name, ask in _questions(memory, workload).items()}
    async with databases(setting.dsn) as server, _traced(server.app) as (opened, trace):
        store = opened.with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
        await _fill(store, workload)
        await store.settle()
        await analyse(server.admin)
        for name, ask in _questions(store, workload).items():
            ours[name]["postgres"] = await _crossed(ask) | await _sent(ask, trace)
    search = ours["search"]["postgres"]
    met = all(search[name] <= most for name, most in MOST.items())
    return {"benchmark": "trace", **setting.about(workload), "ours": ours, "target": MOST, "met": met}


async def _fill(store: GraphStore, workload: Any) -> None:
    """The graph of the workload, and a memory for each of its entities."""
    graph = Graph.of(workload)
    await graph.write_to(store)
    names = [each.name for each in graph.entities]
    memories = [Memory(id=f"m{row}", text=f"{name} was on the agenda today") for row, name in enumerate(names)]
    mentions = [
        Mention(memory_id=memory.id, entity_id=entity.id, surface=entity.name)
        for memory, entity in zip(memories, graph.entities, strict=True)
    ]
    await store.write(Batch(memories=memories, mentions=mentions))


def _questions(store: GraphStore, workload: Any) -> dict[str, Ask]:
    """What is traced, behind Cedar and the default policies."""
    embedder = QuestionVectors(workload, 1)
    engine = GraphSearchEngine(store=store, embedder=embedder)
    gate = Gate(CedarAuthorizer.default(), PRINCIPAL)
    (question,) = embedder.texts
    builder = ContextBuilder(engine)
    return {
        "search": lambda: engine.search(question, gate=gate),
        "recall": lambda: engine.recall(question, gate=gate),
        "block": lambda: builder.build(question, gate=gate, session_id="traced"),
    }


async def _crossed(ask: Ask) -> dict[str, int]:
    """The files, rooms, functions and calls of the second time that a question is asked."""
    await ask()
    codes: dict[Any, int] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            codes[frame.f_code] = codes.get(frame.f_code, 0) + 1

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        await ask()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    own = {code: path for code in codes if (path := _path_in_package(code.co_filename))}
    return {
        "files": len(set(own.values())),
        "rooms": len({_room(path) for path in own.values()}),
        "functions": len(own),
        "calls": sum(codes[code] for code in own),
        "calls_of_all": sum(codes.values()),
    }


def _path_in_package(name: str) -> Path | None:
    path = Path(name).resolve()
    if not path.is_relative_to(ROOT):
        return None
    inner = path.relative_to(ROOT)
    return inner if inner.parts[0] in ("graphsearch", *LINKED) else None


def _room(path: Path) -> str:
    return path.parts[0] if path.parts[0] in LINKED else path.parts[1]


@asynccontextmanager
async def _traced(dsn: str) -> AsyncIterator[tuple[PostgresGraphStore, IO[str]]]:
    """A store over one connection, and what libpq writes of it."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as trace:
        async with PostgresGraphStore.open(dsn, max_connections=1) as store:
            async with store._gateway.pool.connection() as connection:  # noqa: SLF001 - its only one
                connection.pgconn.trace(trace.fileno())
                connection.pgconn.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
            yield store, trace


async def _sent(ask: Ask, trace: IO[str]) -> dict[str, int]:
    """The statements and the round trips of a question."""
    trace.seek(0)
    trace.truncate()
    await ask()
    await asyncio.sleep(0)
    trace.seek(0)
    return count_messages(trace)


def count_messages(lines: Iterable[str]) -> dict[str, int]:
    """The statements executed and the waits for answers in a trace of libpq: a message a line, F sent and B received.

    What libpq asks of a server to describe or close a prepared statement is no statement.
    """
    statements = waits = 0
    sent = False
    for line in lines:
        side, _, message = line.partition("\t")
        if side == "F":
            sent = True
            statements += message.partition("\t")[2].startswith(("Execute", "Query"))
        elif side == "B" and sent:
            waits += 1
            sent = False
    return {"statements": statements, "round_trips": waits}


if __name__ == "__main__":
    run(measure, __doc__)
