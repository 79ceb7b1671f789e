"""The bare cost of the work under graphsearch: the denominator of its own figures.

    python -m benchmarks.bare N [--dsn DSN]

One JSON object, times in milliseconds as medians:

* ``scan_ms``: numpy float32 matrix × question, and the ten best: exact vector search in memory.
* ``hop_ms``: two hops from the ten best over sparse rows, at most 25 relations per entity and direction, 500 entities
  per frontier.
* ``seeds_ms``: the ten nearest entities by HNSW in Postgres.
* ``search_ms``: seeds and two such hops in one statement, ids and weights only.
* ``hydrate_ms``: names and facts of the 200 strongest relations found and of their endpoints, two statements.
* ``copy_entities_s``, ``copy_relations_s``: rows per second by binary COPY into a temporary table, then INSERT … ON
  CONFLICT.
* ``feedback_ms``: new weights of 200 relations and 200 rows of history in one transaction.
"""

from __future__ import annotations

from typing import Any

from benchmarks.bare_memory import BareMemory
from benchmarks.bare_postgres import bare_postgres
from benchmarks.command import Setting, run
from benchmarks.measuring import Sample, in_turns, rounded
from benchmarks.servers import databases


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """All of the bare costs at one size."""
    workload = setting.make(n)
    memory = BareMemory(workload, setting.runs)
    walked = await in_turns({"scan": memory.scan, "search": memory.search}, runs=setting.runs)
    async with databases(setting.dsn) as server:
        with bare_postgres(server.bare, workload, setting.runs) as bare:
            entities, relations = bare.load()
            bare.index()
            steps = {"seeds_ms": bare.seeds, "search_ms": bare.search, "hydrate_ms": bare.hydrate}
            timed = await in_turns({**steps, "feedback_ms": bare.feedback}, runs=setting.runs)
    return {
        "n": workload.n,
        "relations": workload.m,
        **memory_cost(walked),
        **{name: rounded(sample.p50_ms) for name, sample in timed.items()},
        "copy_entities_s": round(entities),
        "copy_relations_s": round(relations),
    }


def memory_cost(timed: dict[str, Sample]) -> dict[str, float]:
    """``scan_ms`` and ``hop_ms`` from the samples of a scan, and of a scan with the hops after it."""
    scan, search = timed["scan"].p50_ms, timed["search"].p50_ms
    return {"scan_ms": rounded(scan), "hop_ms": rounded(search - scan)}


if __name__ == "__main__":
    run(measure, __doc__)
