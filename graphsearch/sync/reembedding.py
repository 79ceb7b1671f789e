"""Changes of the embedding model, blocking. ``progress`` is called from another thread."""

from __future__ import annotations

from graphsearch.ingest import Progress
from graphsearch.protocols import Embedder
from graphsearch.reembedding import estimating, running
from graphsearch.reembedding.estimating import ReembedEstimate
from graphsearch.reembedding.running import ReembedReport
from graphsearch.sync.bridge import BRIDGE
from graphsearch.sync.facade import behind
from graphsearch.sync.stores import GraphStore


def reembed(
    store: GraphStore,
    embedder: Embedder,
    *,
    restart: bool = False,
    per_second: float | None = None,
    batch: int = running.BATCH,
    progress: Progress | None = None,
) -> ReembedReport:
    """As `graphsearch.reembed`."""
    result = running.reembed(
        behind(store), embedder, restart=restart, per_second=per_second, batch=batch, progress=progress
    )
    return BRIDGE.run(result)


def estimate_reembedding(store: GraphStore, embedder: Embedder, *, sample: int = estimating.SAMPLE) -> ReembedEstimate:
    """As `graphsearch.estimate_reembedding`."""
    return BRIDGE.run(estimating.estimate_reembedding(behind(store), embedder, sample=sample))
