"""Loading a graph into memory with its first question: at most 1.5 times the processor time of networkx, and 0.6 GB.

    python -m benchmarks.filling [N …] [--workload FILE] [--json]

N entities with vectors and 10 relations each. The objects exist before, on both sides. networkx gets a node for each
entity and an edge for each relation, with their texts and numbers, and its first question is that of
`benchmarks.peers`; it has no indexes of words and names, no policies and no time. Each is a process of its own; the
peak is what it has beyond the objects. 0.6 GB are for 100,000 entities, and less for fewer.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import re
import time
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from benchmarks.asking import SCOPE, searching
from benchmarks.command import Setting, at_most, run
from benchmarks.graph import Graph
from benchmarks.measuring import rounded
from benchmarks.peers import two_hops
from graphsearch.stores.memory import InMemoryGraphStore

TIMES: Final = 1.5
BYTES: Final = 6_000
"""Of memory, for an entity with its ten relations."""
_STATUS: Final = Path("/proc/self/status")


def _ours(graph: Graph, workload: Any) -> tuple[float, float]:
    """Seconds of loading, and of the first question."""
    store = InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    started = time.process_time()
    asyncio.run(graph.write_to(store))
    loaded = time.process_time()

    async def ask() -> None:
        await searching(store, workload, 1)()

    asyncio.run(ask())
    return loaded - started, time.process_time() - loaded


def _networkx(graph: Graph, workload: Any) -> tuple[float, float]:
    started = time.process_time()
    held = import_module("networkx").MultiDiGraph()
    held.add_nodes_from(
        (row, {"id": each.id, "type": each.type, "name": each.name, "description": each.description})
        for row, each in enumerate(graph.entities)
    )
    held.add_edges_from(
        (source, target, each.id, {"type": each.type, "fact": each.fact, "confidence": each.confidence})
        for source, target, each in zip(workload.src.tolist(), workload.dst.tolist(), graph.relations, strict=True)
    )
    loaded = time.process_time()
    text, vector, _ = workload.queries(1)[0]
    two_hops(held, workload)(text, vector)
    return loaded - started, time.process_time() - loaded


PARTS: Final = {"ours": _ours, "networkx": _networkx}


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size."""
    found = {part: await asyncio.to_thread(_alone, part, n, setting) for part in PARTS}
    workload = setting.make(n)
    verdicts = {
        "seconds": at_most(TIMES, *(found[part]["load_s"] + found[part]["question_s"] for part in PARTS)),
        "memory": at_most(1.0, found["ours"]["peak_mb"], BYTES * n / 2**20),
    }
    return {
        "benchmark": "filling",
        **setting.about(workload),
        "runs": 1,
        **found,
        "verdicts": verdicts,
        "met": all(each["met"] for each in verdicts.values()),
    }


def _alone(part: str, n: int, setting: Setting) -> dict[str, float]:
    """The figures of a part in a process of its own."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(part, n, setting, theirs))
    process.start()
    theirs.close()
    figures: dict[str, float] = ours.recv()
    process.join()
    return figures


def _work(part: str, n: int, setting: Setting, result: Any) -> None:
    workload = setting.make(n)
    graph = Graph.of(workload)
    before = _memory("VmRSS")
    load, question = PARTS[part](graph, workload)
    peak = _memory("VmHWM") - before
    result.send({"load_s": rounded(load), "question_s": rounded(question), "peak_mb": rounded(peak)})


def _memory(what: str) -> float:
    """Resident memory of this process now, or at its peak, in megabytes; on Linux alone."""
    found = re.search(rf"{what}:\s+(\d+) kB", _STATUS.read_text()) if _STATUS.exists() else None
    return int(found[1]) / 2**10 if found else 0.0


if __name__ == "__main__":
    run(measure, __doc__)
