"""Other libraries on the same graph and the same questions, each in a process of its own.

    python -m benchmarks.peers PEER N [--workload FILE]

* ``networkx``: numpy for the ten nearest entities, networkx for everything within two hops, numpy to rank it.
* ``igraph_neighborhood``: the same with igraph; ``igraph_pagerank``: its personalised PageRank instead of hops.
* ``langgraph``: the vector search of langgraph's InMemoryStore, and two hops over adjacency lists kept in its items.

None of them has policies, time, confidence or feedback. Install them with ``pip install --group bench``; a missing one
is reported as absent.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np

from benchmarks.command import Setting, last_json
from benchmarks.measuring import rounded

Ask = Callable[[str, Any], object]
"""Answers a question: its text and its vector."""

SECONDS: Final = 10.0
"""The time limit of a peer: some take seconds per question at 100,000 entities."""

SHOWN: Final = 10


def figures(n: int, setting: Setting) -> dict[str, Any]:
    """Every peer's figures, or that it is absent."""
    named = [] if setting.workload_file is None else ["--workload", str(setting.workload_file)]
    command = [sys.executable, "-m", "benchmarks.peers"]
    return {peer: last_json([*command, peer, str(n), "--runs", str(setting.runs), *named]) for peer in PEERS}


# -- the peers ----------------------------------------------------------------------------------------------------


def networkx(workload: Any) -> Ask:
    """Breadth-first over networkx, both directions."""
    graph = import_module("networkx").MultiDiGraph()
    graph.add_nodes_from(range(workload.n))
    graph.add_edges_from(_edges(workload))
    return two_hops(graph, workload)


def two_hops(graph: Any, workload: Any) -> Ask:
    """Breadth-first over a graph of networkx whose nodes are the workload's rows."""

    def ask(_: str, vector: Any) -> object:
        reached = set(_nearest(workload, vector))
        frontier = set(reached)
        met: set[tuple[int, int]] = set()
        for _hop in range(2):
            met.update(graph.in_edges(frontier), graph.out_edges(frontier))
            frontier = {end for edge in met for end in edge} - reached
            reached |= frontier
        return _ranked(met, reached, workload, vector)

    return ask


def igraph_neighborhood(workload: Any) -> Ask:
    """Everything within two hops by igraph, the relations in it ranked."""
    graph = import_module("igraph").Graph(n=workload.n, edges=_edges(workload), directed=True)

    def ask(_: str, vector: Any) -> object:
        around = graph.neighborhood(_nearest(workload, vector), order=2, mode="all")
        reached = sorted(set().union(*around))
        within = graph.induced_subgraph(reached)
        met = {(reached[source], reached[target]) for source, target in within.get_edgelist()}
        return _ranked(met, set(reached), workload, vector)

    return ask


def igraph_pagerank(workload: Any) -> Ask:
    """Personalised PageRank by igraph from the nearest entities."""
    graph = import_module("igraph").Graph(n=workload.n, edges=_edges(workload), directed=False)

    def ask(_: str, vector: Any) -> object:
        restart = np.zeros(workload.n)
        seeds = _nearest(workload, vector)
        restart[seeds] = np.maximum(workload.vec[seeds] @ vector, 0.0)
        rank = graph.personalized_pagerank(damping=0.85, directed=False, reset=restart)
        return np.argsort(rank)[::-1][:SHOWN]

    return ask


def langgraph(workload: Any) -> Ask:
    """Search and hops in langgraph's InMemoryStore."""
    base, memory = import_module("langgraph.store.base"), import_module("langgraph.store.memory")
    vectors = {name: workload.vec[row] for row, name in enumerate(workload.names)}

    def embed(texts: Iterable[str]) -> list[list[float]]:
        return [vectors[text].tolist() for text in texts]

    store = memory.InMemoryStore(index={"dims": workload.vec.shape[1], "embed": embed, "fields": ["name"]})
    edges: list[list[tuple[int, int]]] = [[] for _ in range(workload.n)]
    for edge in _edges(workload):
        for end in edge:
            edges[end].append(edge)
    items = [{"name": name, "edges": edges[row]} for row, name in enumerate(workload.names)]
    for start in range(0, workload.n, 1000):
        part = range(start, min(start + 1000, workload.n))
        store.batch([base.PutOp(("graph",), str(row), items[row]) for row in part])

    def ask(text: str, vector: Any) -> object:
        vectors[text] = vector
        frontier = {int(hit.key) for hit in store.search(("graph",), query=text, limit=10)}
        reached = set(frontier)
        met: set[tuple[int, int]] = set()
        for _hop in range(2):
            for row in frontier:
                met.update(store.get(("graph",), str(row)).value["edges"])
            frontier = {end for edge in met for end in edge} - reached
            reached |= frontier
        return _ranked(met, reached, workload, vector)

    return ask


PEERS: Final = {
    "networkx": networkx,
    "igraph_neighborhood": igraph_neighborhood,
    "igraph_pagerank": igraph_pagerank,
    "langgraph": langgraph,
}


def _edges(workload: Any) -> list[tuple[int, int]]:
    return list(zip(workload.src.tolist(), workload.dst.tolist(), strict=True))


def _nearest(workload: Any, vector: Any) -> list[int]:
    likeness = workload.vec @ vector
    best: list[int] = np.argpartition(-likeness, 10)[:10].tolist()
    return best


def _ranked(met: set[tuple[int, int]], reached: set[int], workload: Any, vector: Any) -> object:
    """The ten relations whose ends are nearest to the question."""
    rows = np.fromiter(reached, np.int64, len(reached))
    likeness = dict(zip(rows.tolist(), (workload.vec[rows] @ vector).tolist(), strict=True))
    return sorted(met, key=lambda edge: -(likeness[edge[0]] + likeness[edge[1]]))[:SHOWN]


# -- one of them, measured ----------------------------------------------------------------------------------------


def measured(peer: str, workload: Any, runs: int) -> dict[str, Any]:
    """Seconds to load the graph, and milliseconds per question."""
    start = time.perf_counter()
    try:
        ask = PEERS[peer](workload)
    except ModuleNotFoundError as error:
        return {"absent": f"{error.name} is not installed: pip install --group bench"}
    load = time.perf_counter() - start
    (text, vector, _), *questions = workload.queries(runs + 1)
    ask(text, vector)
    wall, cpu, end = [], [], time.perf_counter() + SECONDS
    for text, vector, _ in questions:
        start, used = time.perf_counter(), time.thread_time()
        ask(text, vector)
        wall.append(1e3 * (time.perf_counter() - start))
        cpu.append(1e3 * (time.thread_time() - used))
        if time.perf_counter() > end:
            break
    return {"p50_ms": rounded(median(wall)), "cpu_ms": rounded(median(cpu)), "load_s": rounded(load), "runs": len(wall)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("size", type=int)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--workload", type=Path)
    options = parser.parse_args()
    workload = Setting(workload_file=options.workload).make(options.size)
    print(json.dumps(measured(options.peer, workload, options.runs)))
