"""Search of a graph in memory: p50 at most 3 × (scan_ms + hop_ms).

    python -m benchmarks.search_memory [N …] [--json]

Other libraries are measured on the same graph: see `benchmarks.peers`.
"""

from __future__ import annotations

from typing import Any

from benchmarks import peers
from benchmarks.asking import SCOPE, searching
from benchmarks.bare import memory_cost
from benchmarks.bare_memory import BareMemory
from benchmarks.command import Setting, at_most, run
from benchmarks.graph import Graph
from benchmarks.measuring import in_turns, once, rounded
from graphsearch.stores.memory import InMemoryGraphStore


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size."""
    workload = setting.make(n)
    store = InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    await Graph.of(workload).write_to(store)
    search = searching(store, workload, setting.runs)
    await once(search)  # indexes are built on first use
    bare = BareMemory(workload, setting.runs)
    timed = await in_turns({"scan": bare.scan, "search": bare.search, "ours": search}, runs=setting.runs)
    cost = setting.foreign_bare_cost(n) or memory_cost(timed)
    ours = timed["ours"]
    return {
        "benchmark": "search_memory",
        **setting.about(workload),
        "ours": ours.as_dict(),
        "bare": {"scan_ms": cost["scan_ms"], "hop_ms": cost["hop_ms"]},
        **at_most(3.0, ours.p50_ms, cost["scan_ms"] + cost["hop_ms"]),
        "cpu_ratio": rounded(ours.cpu_ms / timed["search"].cpu_ms),
        "peers": peers.figures(n, setting),
    }


if __name__ == "__main__":
    run(measure, __doc__)
