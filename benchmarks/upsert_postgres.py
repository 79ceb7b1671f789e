"""Writing a graph to Postgres: at least 0.6 of the rate of bare COPY and INSERT, settled in 1.2 times CREATE INDEX.

    python -m benchmarks.upsert_postgres [N …] [--embedded | --dsn DSN] [--json]

`GraphStore.write` in batches of 50,000, each round into a scope of its own. Creating the objects is not counted on
either side, nor is deferred indexing, which is timed apart: `settle_s` is the time of `GraphStore.settle` after the
last round, `index_s` that of the indexes of vectors and walks on the bare tables.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from statistics import median
from typing import Any, Final

from benchmarks.bare_postgres import bare_postgres
from benchmarks.command import Setting, at_least, at_most, run
from benchmarks.graph import MODEL, Graph
from benchmarks.measuring import rounded
from benchmarks.servers import databases
from graphsearch.model import Batch
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.postgres import PostgresGraphStore

WRITTEN: Final = 50_000
"""Entities in all rounds together: small writes take some milliseconds, and are measured more often."""
RATE: Final = 0.6
SETTLING: Final = 1.2
LEAST: Final = 3
"""Rounds of a large graph, if that many are requested."""


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size."""
    workload = setting.make(n)
    graph = Graph.of(workload)
    ours: list[tuple[float, float]] = []
    theirs: list[tuple[float, float]] = []
    async with databases(setting.dsn) as server, PostgresGraphStore.open(server.app) as opened:
        foreign = setting.foreign_bare_cost(n, server.bare)
        rounds = range(min(setting.runs, max(LEAST, WRITTEN // n)))
        stores = [opened.with_scope(org_id="benchmarks", project_id=f"round {number}") for number in rounds]
        with bare_postgres(server.bare, workload, 1) as bare:
            for store in stores:
                if foreign is None:
                    theirs.append(bare.load())
                ours.append(await _write(graph, store))
            start = time.perf_counter()
            await stores[-1].settle()
            settled = time.perf_counter()
            if foreign is None:
                bare.index()
            indexed = time.perf_counter()
    entities, relations = _medians(ours)
    bare_entities, bare_relations = _medians(theirs) if foreign is None else _said(foreign)
    settling, indexing = settled - start, indexed - settled
    verdicts = {
        "entities_s": at_least(RATE, entities, bare_entities),
        "relations_s": at_least(RATE, relations, bare_relations),
    }
    if foreign is None:
        verdicts["settle_s"] = at_most(SETTLING, settling, indexing)
    return {
        "benchmark": "upsert_postgres",
        **setting.about(workload),
        "ours": {"entities_s": round(entities), "relations_s": round(relations), "settle_s": rounded(settling)},
        "bare": {
            "copy_entities_s": round(bare_entities),
            "copy_relations_s": round(bare_relations),
            **({} if foreign else {"index_s": rounded(indexing)}),
        },
        "verdicts": verdicts,
        "met": all(verdict["met"] for verdict in verdicts.values()),
    }


async def _write(graph: Graph, store: GraphStore) -> tuple[float, float]:
    """Entities per second and relations per second, into an empty scope."""
    await store.bind_embedder(MODEL, len(next(iter(graph.vectors.values()))))
    entities = await _seconds(store, graph.entity_batches())
    relations = await _seconds(store, graph.relation_batches())
    return len(graph.entities) / entities, len(graph.relations) / relations


async def _seconds(store: GraphStore, batches: Iterable[Batch]) -> float:
    ready = list(batches)
    start = time.perf_counter()
    for batch in ready:
        await store.write(batch)
    return time.perf_counter() - start


def _medians(rates: list[tuple[float, float]]) -> tuple[float, float]:
    return median(rate for rate, _ in rates), median(rate for _, rate in rates)


def _said(foreign: dict[str, float]) -> tuple[float, float]:
    return foreign["copy_entities_s"], foreign["copy_relations_s"]


if __name__ == "__main__":
    run(measure, __doc__)
