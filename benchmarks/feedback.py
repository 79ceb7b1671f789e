"""Learning from a session with 200 surfaced relations: at most 2 × feedback_ms in Postgres.

    python -m benchmarks.feedback [N …] [--embedded | --dsn DSN] [--json]

`GraphStore.apply_outcome`, each time of another session. The in-memory store has no bare cost of its own; its time is
compared with that of Postgres.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

from benchmarks.asking import SCOPE
from benchmarks.bare_postgres import SHOWN, bare_postgres
from benchmarks.command import Setting, at_most, run
from benchmarks.graph import Graph
from benchmarks.measuring import Sample, Step, in_turns, rounded
from benchmarks.servers import Databases, analyse, databases
from graphsearch.model import ElementKind, ElementRef, FeedbackReport, Outcome
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.memory import InMemoryGraphStore
from graphsearch.stores.postgres import PostgresGraphStore


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size."""
    workload = setting.make(n)
    graph = Graph.of(workload)
    memory = InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    await graph.write_to(memory)
    async with databases(setting.dsn) as server, PostgresGraphStore.open(server.app) as opened:
        store = opened.with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
        await graph.write_to(store)
        await analyse(server.admin)
        steps = {"memory": _learning(memory, graph), "postgres": _learning(store, graph)}
        timed, cost = await _timed(steps, workload, server, setting)
    ours = timed["postgres"]
    return {
        "benchmark": "feedback",
        **setting.about(workload),
        "elements": min(SHOWN, len(graph.relations)),
        "ours": ours.as_dict(),
        "memory": timed["memory"].as_dict(),
        "bare": {"feedback_ms": cost},
        **at_most(2.0, ours.p50_ms, cost),
    }


def _learning(store: GraphStore, graph: Graph) -> Callable[[], Awaitable[FeedbackReport]]:
    """A step that applies "accepted" for a new session."""
    sessions = count()
    surfaced = [ElementRef(ElementKind.RELATION, str(relation.id)) for relation in graph.relations[:SHOWN]]
    return lambda: store.apply_outcome(f"session {next(sessions)}", Outcome.ACCEPTED, surfaced)


async def _timed(
    steps: dict[str, Callable[[], Awaitable[FeedbackReport]]], workload: Any, server: Databases, setting: Setting
) -> tuple[dict[str, Sample], float]:
    foreign = setting.foreign_bare_cost(workload.n, server.bare)
    if foreign is not None:
        return await in_turns(steps, runs=setting.runs), foreign["feedback_ms"]
    with bare_postgres(server.bare, workload, 1) as bare:
        bare.load()
        bare.index()
        every: dict[str, Step] = {**steps, "bare": bare.feedback}
        timed = await in_turns(every, runs=setting.runs)
    return timed, rounded(timed["bare"].p50_ms)


if __name__ == "__main__":
    run(measure, __doc__)
