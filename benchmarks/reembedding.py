"""Another embedding model for a scope on Postgres: seconds of the change beside those of the embedder alone.

    python -m benchmarks.reembedding [N …] [--embedded | --dsn DSN] [--json]

N memories of a synthetic company, embedded by WordLlama, are changed to MiniLM and back. "switch" is the call that
ends a change, during which writers wait.
"""

from __future__ import annotations

import os
import time
from typing import Any, Final, cast

import attrs

from benchmarks.command import Setting, run
from benchmarks.measuring import rounded
from benchmarks.remember import memories
from benchmarks.servers import databases
from graphsearch.embedders import MiniLMEmbedder, WordLlamaEmbedder
from graphsearch.model import Batch
from graphsearch.protocols import Embedder
from graphsearch.reembedding import BATCH, reembed
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.postgres import PostgresGraphStore, ScopedPostgresStore
from graphsearch.text.bm25 import embedding_text

PAGE: Final = 1_000


@attrs.define(eq=False)
class _Timed:
    """A store that measures its switches."""

    store: ScopedPostgresStore
    switch: float = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    async def switch_embedder(self, *given: Any, **named: Any) -> int:
        """The switch, timed."""
        started = time.perf_counter()
        left = await self.store.switch_embedder(*given, **named)
        self.switch = time.perf_counter() - started
        return left


async def measure(n: int, setting: Setting) -> dict[str, Any]:
    """One size."""
    small, large = WordLlamaEmbedder(), MiniLMEmbedder()
    async with databases(setting.dsn) as server, PostgresGraphStore.open(server.app) as opened:
        store = opened.with_scope(org_id="acme", project_id="web")
        written = list(memories(n))
        texts = [embedding_text(each) for each in written]
        await store.bind_embedder(small.name, small.dimensions)
        for start in range(0, n, PAGE):
            some = written[start : start + PAGE]
            rows = await small.embed(texts[start : start + PAGE], input_type="document")
            await store.write(Batch(memories=some, vectors=dict(zip([each.id for each in some], rows, strict=True))))
        await store.settle()
        changes = [await _change(store, embedder, texts) for embedder in (large, small)]
    return {
        "benchmark": "reembedding",
        "n": n,
        "data": "made-up memories of 8 to 14 words",
        "runs": 1,
        "machine": {"cores": os.cpu_count(), "load": rounded(os.getloadavg()[0])},
        "texts": len(texts),
        "to_minilm": changes[0],
        "to_wordllama": changes[1],
    }


async def _change(store: ScopedPostgresStore, embedder: Embedder, texts: list[str]) -> dict[str, float]:
    await embedder.embed(["a"], input_type="document")  # which loads the model
    started = time.perf_counter()
    for start in range(0, len(texts), BATCH):
        await embedder.embed(texts[start : start + BATCH], input_type="document")
    alone, timed = time.perf_counter() - started, _Timed(store)
    report = await reembed(cast(GraphStore, timed), embedder)
    return {"embedder_s": rounded(alone), "reembed_s": rounded(report.seconds), "switch_s": rounded(timed.switch)}


if __name__ == "__main__":
    run(measure, __doc__)
