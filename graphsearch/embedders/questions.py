"""The vector of a question."""

from __future__ import annotations

import numpy as np

from graphsearch._support.timing import Stopwatch
from graphsearch.model import Vector
from graphsearch.protocols import Embedder


async def embedded(query: str, embedder: Embedder, stopwatch: Stopwatch) -> Vector | None:
    """The embedding of a question; a blank one has none, and nothing is near it."""
    if not query.strip():
        return None
    with stopwatch.stage("embedding"):
        vectors = await embedder.embed([query], input_type="query")
    return np.asarray(vectors[0], dtype=np.float32)
