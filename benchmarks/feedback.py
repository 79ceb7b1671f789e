"""Learning from a session with 200 surfaced relations: at most 1.3 × feedback_ms in Postgres, by one and 8 writers.

    python -m benchmarks.feedback [N …] [--embedded | --dsn DSN] [--json]

`GraphStore.apply_outcome`, each time of another session. Eight writers each learn from 200 relations of their own, on
both sides at once: the time is that until all of them have. The in-memory store has no bare cost of its own; its time
is compared with that of Postgres.
"""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any, Final

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

TIMES: Final = 1.3
WRITERS: Final = 8


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size, of at least 160 entities."""
    workload = setting.make(n)
    graph = Graph.of(workload)
    memory = InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    await graph.write_to(memory)
    async with databases(setting.dsn) as server, PostgresGraphStore.open(server.app) as opened:
        store = opened.with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
        await graph.write_to(store)
        await analyse(server.admin)
        steps = {"memory": _learning(memory, graph), "postgres": _learning(store, graph)}
        steps["writers"] = _learning(store, graph, WRITERS)
        timed, cost = await _timed(steps, workload, server, setting)
    verdicts = {name: at_most(TIMES, timed[name].p50_ms, spent) for name, spent in cost.items()}
    return {
        "benchmark": "feedback",
        **setting.about(workload),
        "elements": min(SHOWN, len(graph.relations)),
        "ours": timed["postgres"].as_dict(),
        "writers": timed["writers"].as_dict(),
        "memory": timed["memory"].as_dict(),
        "bare": {f"{'feedback' if name == 'postgres' else name}_ms": spent for name, spent in cost.items()},
        "verdicts": verdicts,
        "met": all(each["met"] for each in verdicts.values()),
    }


def _learning(store: GraphStore, graph: Graph, writers: int = 1) -> Step:
    """A step that applies "accepted" for a new session of each writer, at once."""
    sessions = count()

    async def apply(writer: int) -> FeedbackReport:
        some = graph.relations[writer * SHOWN : (writer + 1) * SHOWN]
        surfaced = [ElementRef(ElementKind.RELATION, str(relation.id)) for relation in some]
        return await store.apply_outcome(f"session {next(sessions)} of {writers}", Outcome.ACCEPTED, surfaced)

    async def step() -> None:
        await asyncio.gather(*map(apply, range(writers)))

    return step


async def _timed(
    steps: dict[str, Step], workload: Any, server: Databases, setting: Setting
) -> tuple[dict[str, Sample], dict[str, float]]:
    """The samples, and the bare cost of those steps that have one."""
    foreign = setting.foreign_bare_cost(workload.n, server.bare)
    if foreign is not None:
        return await in_turns(steps, runs=setting.runs), {"postgres": foreign["feedback_ms"]}
    with bare_postgres(server.bare, workload, 1) as bare:
        bare.load()
        bare.index()
        with bare.writers(WRITERS) as together:
            every = {**steps, "bare": bare.feedback, "bare writers": together}
            timed = await in_turns(every, runs=setting.runs)
    return timed, {
        "postgres": rounded(timed["bare"].p50_ms),
        "writers": rounded(timed["bare writers"].p50_ms),
    }


if __name__ == "__main__":
    run(measure, __doc__)
