"""Personalised PageRank by push, in memory: p50 at most 20 ms, and 2 × its time on a graph a tenth as large.

    python -m benchmarks.pagerank [N …] [--json]

It is compared with power iteration over the whole graph by numpy, and with igraph's ``personalized_pagerank``, from the
same seeds. ``agreement`` is how many of the 20 best of each are among the 20 best of push, and the largest difference
in PageRank between push and power iteration among those, as a share of the largest. The graph is put into the store as
columns: see `benchmarks.columns`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from itertools import cycle
from typing import Any, Final

import attrs
import numpy as np

from benchmarks.columns import confidences, store_of
from benchmarks.command import Setting, run
from benchmarks.measuring import Sample, in_turns, rounded
from graphsearch.access.reader import reading
from graphsearch.columns import Floats, Hits, Rows, Subgraph
from graphsearch.stores.graph import GraphStore
from graphsearch.traversal.pagerank import PersonalizedPageRank, power_iteration, starting_chances

LIMIT_MS: Final = 20.0
GROWTH: Final = 2.0
"""The maximum ratio of times for a graph ten times as large."""
SLOW: Final = 20
"""Power iteration and igraph run this many times less often."""
BEST: Final = 20

_PUSH: Final = PersonalizedPageRank(method="push")

Solver = Callable[[Floats], Floats]
"""From the starting probabilities of all entities to the PageRank of each."""


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size, and a tenth of it."""
    whole, tenth = _Case.of(setting.make(n)), _Case.of(setting.make(max(n // 10, 20)))
    timed = await in_turns({"push": whole.step(), "tenth": tenth.step()}, runs=setting.runs)
    ours, smaller = timed["push"], timed["tenth"]
    power, igraph = whole.power(), whole.igraph()
    solvers = {name: solver for name, solver in (("power", power), ("igraph", igraph)) if solver}
    rare = max(1, setting.runs // SLOW)
    slow = await in_turns({name: whole.solving(solver) for name, solver in solvers.items()}, runs=rare)
    growth = ours.p50_ms / smaller.p50_ms
    return {
        "benchmark": "pagerank",
        **setting.about(whole.workload),
        "ours": {"push": ours.as_dict(), "push_at_a_tenth": smaller.as_dict()},
        "power": slow["power"].as_dict(),
        "igraph": _figures(slow.get("igraph")),
        "agreement": await whole.agreement(solvers),
        "ratio": rounded(growth),
        "target": f"<= {LIMIT_MS:g} ms, and <= {GROWTH:g} × a tenth of the graph",
        "met": ours.p50_ms <= LIMIT_MS and growth <= GROWTH,
    }


def _figures(sample: Sample | None) -> dict[str, Any]:
    return {"absent": "igraph is not installed: pip install --group bench"} if sample is None else sample.as_dict()


@attrs.frozen(eq=False)
class _Case:
    """A graph and its questions."""

    workload: Any
    store: GraphStore
    seeds: tuple[Hits, ...]

    @classmethod
    def of(cls, workload: Any) -> _Case:
        """The ten entities nearest to each of twenty questions are seeds."""
        return cls(workload, store_of(workload), tuple(_nearest(workload, vector) for _, vector, _ in _asked(workload)))

    def step(self) -> Callable[[], Any]:
        """Answer the next question."""
        turn = cycle(self.seeds)
        return lambda: self.push(next(turn))

    async def push(self, seeds: Hits) -> Subgraph:
        """The measured step: the whole traversal, through the reader."""
        async with reading(self.store) as reader:
            return await _PUSH.traverse(seeds, depth=2, reader=reader)

    def power(self) -> Solver:
        """Power iteration over all relations at once."""
        source, target = self.workload.src.astype(np.intp), self.workload.dst.astype(np.intp)
        near, far = np.concatenate((source, target)), np.concatenate((target, source))
        weight = np.tile(confidences(self.workload), 2)
        return lambda start: power_iteration(
            near, far, weight, start, restart=_PUSH.restart, tolerance=_PUSH.tolerance, max_iterations=100
        )

    def igraph(self) -> Solver | None:
        """igraph, if it is installed."""
        try:
            library = import_module("igraph")
        except ModuleNotFoundError:
            return None
        edges = np.stack((self.workload.src, self.workload.dst), axis=1)
        graph = library.Graph(n=self.workload.n, edges=edges, directed=False)
        weights = confidences(self.workload).tolist()
        return lambda start: np.array(
            graph.personalized_pagerank(damping=1.0 - _PUSH.restart, directed=False, reset=start, weights=weights)
        )

    def solving(self, solver: Solver) -> Callable[[], object]:
        """Solve the next question."""
        starts = cycle([self.start(seeds) for seeds in self.seeds[:3]])
        return lambda: solver(next(starts))

    def start(self, seeds: Hits) -> Floats:
        """The starting probability of every entity, with uncapped degrees."""
        ends = np.concatenate((self.workload.src, self.workload.dst))
        degrees: Rows = np.array([np.count_nonzero(ends == key) for key in seeds.keys.tolist()], dtype=np.intp)
        start = np.zeros(self.workload.n)
        start[seeds.keys] = starting_chances(seeds, degrees, self.workload.n)
        return start

    async def agreement(self, solvers: dict[str, Solver]) -> dict[str, float]:
        """Over three questions, as means; the difference as the largest."""
        same: dict[str, list[int]] = {name: [] for name in solvers}
        differences = []
        for seeds in self.seeds[:3]:
            found = await self.push(seeds)
            mine = np.zeros(self.workload.n)
            mine[found.entities] = found.rank
            for name, solver in solvers.items():
                rank = solver(self.start(seeds))
                best = np.argsort(-rank)[:BEST]
                same[name].append(len(np.intersect1d(best, found.entities)))
                if name == "power":
                    differences.append(np.abs(mine - rank)[found.entities].max() / rank.max())
        shared = {f"of_20_with_{name}": rounded(float(np.mean(counts))) for name, counts in same.items()}
        return {**shared, "difference": rounded(float(np.max(differences)))}


def _asked(workload: Any) -> Any:
    return workload.queries(20)


def _nearest(workload: Any, vector: Any) -> Hits:
    distance = 1.0 - workload.vec @ vector
    keys = np.argsort(distance)[:10]
    return Hits(
        keys=keys.astype(np.int64),
        signatures=np.zeros(len(keys), np.int64),
        values=distance[keys].astype(np.float64),
        importance=np.full(len(keys), 0.5),
    )


if __name__ == "__main__":
    run(measure, __doc__)
