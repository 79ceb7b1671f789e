"""Search by vector in Postgres beside other scopes: recall@10 at least 0.95, settling at most 1.5 × a bare index.

    python -m benchmarks.vectors [N …] [--embedded | --dsn DSN] [--json]

Scopes of N memories whose vectors of 256 dimensions lie in six shapes, and one of 300, on one server. Each is searched
from points near its vectors, between two of them, opposite to them, and in any direction, and compared with all
distances in numpy. `settle_s` is what settling the vectors of the scope of embeddings takes, `index_s` CREATE INDEX on
the same vectors in a bare table, as the mean of one before and one after; memories and words are settled before.
"""

from __future__ import annotations

import time
from typing import Any, Final

import attrs
import numpy as np
import psycopg
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector

from benchmarks.command import Setting, at_least, at_most, machine, run
from benchmarks.measuring import in_turns, rounded
from benchmarks.servers import databases
from graphsearch.model import Batch, ElementKind, Memory, View
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.postgres import PostgresGraphStore

DIMENSIONS: Final = 256
NEAREST: Final = 10
POINTS: Final = 16
"""Points of each kind."""
SMALL: Final = 300
_SHAPES: Final = ("embeddings", "uniform", "another uniform", "tight", "clusters", "duplicates")
_BATCH: Final = 20_000

Matrix = NDArray[np.float32]


def shaped(shape: str, count: int) -> Matrix:
    """Unit vectors, exact as float16 but for their length.

    * ``embeddings`` vary in 24 directions, and a little in all others.
    * ``uniform`` and ``another uniform`` point in any direction.
    * ``tight`` lie in one narrow cone, ``clusters`` in 200 wider ones.
    * ``duplicates``: half of them are one vector.
    """
    random = np.random.default_rng([*shape.encode()])
    spread = random.standard_normal((count, DIMENSIONS))
    if shape == "embeddings":
        spread = random.standard_normal((count, 24)) @ random.standard_normal((24, DIMENSIONS)) + 0.1 * spread
    elif shape == "tight":
        spread = 0.1 * spread + random.standard_normal(DIMENSIONS)
    elif shape == "clusters":
        spread = 0.4 * spread + random.standard_normal((200, DIMENSIONS))[random.integers(0, 200, count)]
    elif shape == "duplicates":
        spread[random.permutation(count)[: count // 2]] = spread[0]
    return _unit(spread).astype(np.float16).astype(np.float32)


def points_of(vectors: Matrix) -> dict[str, Matrix]:
    """Points to search from."""
    random = np.random.default_rng(7)
    some, others = vectors[random.integers(0, len(vectors), (2, POINTS))]
    noise = _unit(random.standard_normal((2, POINTS, DIMENSIONS)))
    return {
        "near": _unit(some + 0.3 * noise[0]),
        "between": _unit(some + others + 1e-3 * noise[0]),
        "opposite": _unit(0.3 * noise[0] - some),
        "far": _unit(noise[1]),
    }


def _unit(vectors: NDArray[Any]) -> Matrix:
    units: Matrix = (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)
    return units


@attrs.frozen
class Tenant:
    """A scope, and its vectors in the order of its memories."""

    store: GraphStore
    vectors: Matrix

    async def write(self) -> float:
        """Write memories and settle them, then write their vectors and settle these; return the time of the latter."""
        now = self.store.clock.now()
        memories = [Memory(id=str(row), text="-", created_at=now) for row in range(len(self.vectors))]
        await self.store.bind_embedder("vectors", DIMENSIONS)
        await self.store.write(Batch(memories=memories))
        await self.store.settle()
        for start in range(0, len(memories), _BATCH):
            rows = self.vectors[start : start + _BATCH]
            await self.store.write(Batch(vectors={str(start + row): each for row, each in enumerate(rows)}))
        start_time = time.perf_counter()
        await self.store.settle()
        return time.perf_counter() - start_time

    async def search(self, point: Matrix) -> list[int]:
        """The nearest memories."""
        now = self.store.clock.now()
        hits = await self.store.search_by_embedding(ElementKind.MEMORY, point, limit=NEAREST, view=View(now, now))
        return [int(key) for key in self.store.memory_ids(hits.keys)]

    async def recall(self, points: Matrix) -> float:
        """The mean share of the nearest that is found; equally near ones are as good."""
        units, shares = _unit(self.vectors), []
        for point in points:
            distances = 1 - units @ point
            farthest = np.partition(distances, NEAREST - 1)[NEAREST - 1]
            found = distances[await self.search(point)] <= farthest + 1e-5
            shares.append(np.sum(found) / NEAREST)
        return float(np.mean(shares))


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size."""
    async with databases(setting.dsn) as server, PostgresGraphStore.open(server.app) as opened:
        tenants = {
            name: Tenant(
                opened.with_scope(org_id=name, project_id="vectors"), shaped(name, SMALL if name == "small" else n)
            )
            for name in (*_SHAPES, "small")
        }
        embeddings = tenants["embeddings"].vectors
        indexing = [_bare_index(server.bare, embeddings)]
        settling = {"embeddings": await tenants["embeddings"].write()}
        indexing.append(_bare_index(server.bare, embeddings))
        settling |= {name: await tenant.write() for name, tenant in tenants.items() if name not in settling}
        recall: dict[str, dict[str, float]] = {}
        p50: dict[str, float] = {}
        for name, tenant in tenants.items():
            points = points_of(tenant.vectors)
            recall[name] = {kind: rounded(await tenant.recall(some)) for kind, some in points.items()}
            p50[name] = await _p50(tenant, points["near"], setting.runs)
    bare = sum(indexing) / len(indexing)
    worst = min(share for shares in recall.values() for share in shares.values())
    verdicts = {
        "recall": at_least(0.95, worst, 1.0),
        "settle_s": at_most(1.5, settling["embeddings"], bare),
    }
    return {
        "benchmark": "vectors",
        "n": n,
        "data": f"synthetic, {DIMENSIONS} dimensions, benchmarks/vectors.py",
        "runs": setting.runs,
        "machine": machine(),
        "recall": recall,
        "search_p50_ms": p50,
        "settle_s": {name: rounded(seconds) for name, seconds in settling.items()},
        "bare": {"index_s": rounded(bare)},
        "verdicts": verdicts,
        "met": all(verdict["met"] for verdict in verdicts.values()),
    }


async def _p50(tenant: Tenant, points: Matrix, runs: int) -> float:
    turn = iter(range(1_000_000))
    timed = await in_turns({"search": lambda: tenant.search(points[next(turn) % len(points)])}, runs=runs)
    return rounded(timed["search"].p50_ms)


def _bare_index(dsn: str, vectors: Matrix) -> float:
    """Seconds of CREATE INDEX on a bare table of these vectors, with as much memory as ours takes."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        register_vector(connection)
        connection.execute("DROP TABLE IF EXISTS vectors")
        connection.execute(f"CREATE TABLE vectors (id integer, embedding halfvec({DIMENSIONS}))".encode())
        with connection.cursor().copy("COPY vectors FROM STDIN WITH (FORMAT binary)") as copy:
            copy.set_types(["int4", "halfvec"])
            for row, vector in enumerate(vectors):
                copy.write_row((row, HalfVector(vector.tolist())))
        connection.execute("SET maintenance_work_mem = '512MB'")
        start = time.perf_counter()
        connection.execute("CREATE INDEX ON vectors USING hnsw (embedding halfvec_cosine_ops)")
        took = time.perf_counter() - start
        connection.execute("DROP TABLE vectors")
    return took


if __name__ == "__main__":
    run(measure, __doc__)
