"""The measured search: GRAPH_COMPLETION, two hops, the ten best, behind Cedar and the default policies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import cycle
from typing import Any, Final

from benchmarks.graph import QuestionVectors
from graphsearch.access.gate import Gate
from graphsearch.authz import CedarAuthorizer
from graphsearch.engine import GraphSearchEngine
from graphsearch.model import Principal, Scope
from graphsearch.modes.result import SearchResult
from graphsearch.stores.graph import GraphStore

SCOPE: Final = Scope("benchmarks", "synthetic")
PRINCIPAL: Final = Principal(id="ada", projects=[SCOPE])


def searching(store: GraphStore, workload: Any, questions: int) -> Callable[[], Awaitable[SearchResult]]:
    """A step that searches for the next question, gate and scoring included; embedding costs nothing."""
    embedder = QuestionVectors(workload, questions)
    engine = GraphSearchEngine(store=store, embedder=embedder)
    gate = Gate(CedarAuthorizer.default(), PRINCIPAL)
    texts = cycle(embedder.texts)
    return lambda: engine.search(next(texts), depth=2, seeds=10, limit=10, gate=gate)
