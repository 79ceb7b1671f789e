"""The bytes that an element takes in Postgres: its rows and indexes, with its words, names and vector.

    python -m benchmarks.storage [N …] [--embedded | --dsn DSN] [--json]

A graph of N entities with relations and a conversation of N turns are written, settled and vacuumed. A table counts for
the element whose key it has: the postings of a memory's words and its mentions for the memory. Vectors have
256 dimensions; facts have none, and copies in vector indexes do not count. `walk` is the share of the two indexes that
walks read in the bytes of a relation.
"""

from __future__ import annotations

from typing import Any, Final

import psycopg

from benchmarks.command import Setting, run
from benchmarks.conversations import Conversations
from benchmarks.graph import Graph
from benchmarks.servers import analyse, databases
from graphsearch.stores.postgres import PostgresGraphStore

TABLES: Final = {
    "entity": ("entity", "entity_alias", "entity_posting", "name_posting"),
    "entity_vector": ("entity_embedding",),
    "relation": ("relation", "relation_posting", "evidence"),
    "memory": ("memory", "mention", "memory_posting"),
    "memory_vector": ("memory_embedding",),
}
"""The tables of each kind of element."""
_SIZES: Final = """
SELECT coalesce(sum(pg_table_size(name)), 0)::bigint, coalesce(sum(pg_indexes_size(name)), 0)::bigint
FROM unnest(%s::regclass[]) name
"""
_WALK: Final = """
SELECT pg_relation_size('graphsearch.relation_outgoing') + pg_relation_size('graphsearch.relation_incoming')
"""


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size."""
    workload = setting.make(n)
    graph, conversations = Graph.of(workload), Conversations(workload)
    async with databases(setting.dsn) as server:
        async with PostgresGraphStore.open(server.app) as opened:
            store = opened.with_scope(org_id="benchmarks", project_id="graph")
            await graph.write_to(store)
            await store.settle()
            await conversations.write_to(opened.with_scope(org_id="benchmarks", project_id="conversation"))
        await analyse(server.admin)
        sizes = await _sizes(server.admin)
    counts = {
        "entity": len(graph.entities) + len(conversations.entities),
        "entity_vector": len(graph.entities),
        "relation": len(graph.relations),
        "memory": len(conversations.memories),
        "memory_vector": len(conversations.memories),
    }
    each = {
        kind: {"rows": round(rows / counts[kind]), "indexes": round(indexes / counts[kind])}
        for kind, (rows, indexes) in sizes.items()
        if kind in counts
    }
    walk = round(sizes["walk"][1] / counts["relation"])
    return {"benchmark": "storage", **setting.about(workload), "bytes": each | {"walk": {"indexes": walk}}}


async def _sizes(dsn: str) -> dict[str, tuple[int, int]]:
    """The bytes of rows and of indexes."""
    found: dict[str, tuple[int, int]] = {}
    async with await psycopg.AsyncConnection.connect(dsn) as connection:
        for kind, tables in TABLES.items():
            names = [f"graphsearch.{table}" for table in tables]
            rows, indexes = await (await connection.execute(_SIZES, [names])).fetchone() or (0, 0)
            found[kind] = rows, indexes
        (walk,) = await (await connection.execute(_WALK)).fetchone() or (0,)
        found["walk"] = 0, walk
    return found


if __name__ == "__main__":
    run(measure, __doc__)
