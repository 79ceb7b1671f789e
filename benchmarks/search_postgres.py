"""Search of a graph in Postgres: p50 at most 2 × (search_ms + hydrate_ms).

    python -m benchmarks.search_postgres [N …] [--embedded | --dsn DSN] [--json]

Both graphs are on one server, each in a database of its own. Processor times are ours, not the server's.
"""

from __future__ import annotations

from typing import Any

from benchmarks.asking import SCOPE, searching
from benchmarks.bare_postgres import bare_postgres
from benchmarks.command import Setting, at_most, run
from benchmarks.graph import Graph
from benchmarks.measuring import Sample, Step, in_turns, once, rounded
from benchmarks.servers import Databases, analyse, databases
from graphsearch.stores.postgres import PostgresGraphStore


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size."""
    workload = setting.make(n)
    async with databases(setting.dsn) as server, PostgresGraphStore.open(server.app) as opened:
        store = opened.with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
        await Graph.of(workload).write_to(store)
        await store.settle()
        await analyse(server.admin)
        timed, cost = await _timed(searching(store, workload, setting.runs), workload, server, setting)
    ours = timed["ours"]
    return {
        "benchmark": "search_postgres",
        **setting.about(workload),
        "ours": ours.as_dict(),
        "bare": cost,
        **at_most(2.0, ours.p50_ms, cost["search_ms"] + cost["hydrate_ms"]),
    }


async def _timed(
    search: Step, workload: Any, server: Databases, setting: Setting
) -> tuple[dict[str, Sample], dict[str, float]]:
    """Our samples, and the bare cost measured in turns with them, or given by another program."""
    await once(search)
    foreign = setting.foreign_bare_cost(workload.n, server.bare)
    if foreign is not None:
        timed = await in_turns({"ours": search}, runs=setting.runs)
        return timed, {name: foreign[name] for name in ("search_ms", "hydrate_ms")}
    with bare_postgres(server.bare, workload, setting.runs) as bare:
        bare.load()
        bare.index()
        steps = {"search_ms": bare.search, "hydrate_ms": bare.hydrate, "ours": search}
        timed = await in_turns(steps, runs=setting.runs)
    return timed, {name: rounded(timed[name].p50_ms) for name in ("search_ms", "hydrate_ms")}


if __name__ == "__main__":
    run(measure, __doc__)
