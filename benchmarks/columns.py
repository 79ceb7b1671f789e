"""A graph in memory made from a workload's columns, where millions of relations would not fit as objects.

`InMemoryGraphStore` keeps every relation as an object, and derives the arrays that it walks on. Here the arrays are
made directly and stored in place of the derived ones; they are read by the store's own code, from `expand` down. The
elements themselves do not exist, so that nothing can be hydrated.
"""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

import numpy as np

from benchmarks.asking import SCOPE
from graphsearch.columns import FarEnds, Floats
from graphsearch.model import KNOWN_RELATION_TYPES, Entity, Relation
from graphsearch.model.signatures import entity_signature, relation_signature
from graphsearch.protocols.rows import EntityRow, ScopeRow
from graphsearch.stores.graph import GraphStore
from graphsearch.stores.in_memory.columns import Span, Visibility
from graphsearch.stores.in_memory.rows import SignatureRow
from graphsearch.stores.in_memory.steps import Adjacency, Ground, Support, ground
from graphsearch.stores.in_memory.versions import Version
from graphsearch.stores.memory import InMemoryGraphStore

_ENTITY: Final = Entity(type="concept", name="any")
SCOPE_KEY: Final = UUID(int=0)
_RELATION: Final = Relation(source_id=_ENTITY.id, type="knows", target_id=_ENTITY.id)


def confidences(workload: Any) -> Floats:
    """The confidence of each relation, at least 0.5, so that none is filtered."""
    random: Floats = np.random.default_rng(2).random(workload.m)
    return 0.5 + random / 2


def store_of(workload: Any) -> GraphStore:
    """A store whose entities and relations can be walked; the key of an entity is its row in the workload."""
    n, m = workload.n, workload.m
    confidence = confidences(workload)
    edges = Adjacency.of(workload.src.astype(np.int64), workload.dst.astype(np.int64), confidence, n)
    store = InMemoryGraphStore().with_scope(org_id=SCOPE.org_id, project_id=SCOPE.project_id)
    version = Version.of_nothing(ScopeRow(SCOPE_KEY, types=dict(KNOWN_RELATION_TYPES)), store.analyser)
    signed = (entity_signature(_ENTITY), relation_signature(_RELATION, ()))
    version.tables["signature"].change(
        {each.code: SignatureRow(each.code, number, each) for number, each in enumerate(signed, 1)}
    )
    version.tables["entity"].change(dict.fromkeys(range(n), EntityRow(_ENTITY, _ENTITY.type)))  # to be counted
    version.memo[ground,] = Ground(
        codes=np.full(m, 2),
        entities_seen=_seen(np.ones(n)),
        relations_seen=_seen(confidence),
        edges=edges,
        support=Support(np.full(m, np.nan), np.zeros(m), -np.inf, np.zeros(m)),
        ends=FarEnds(keys=np.arange(n), signatures=np.ones(n, np.int64), importance=np.full(n, 0.5)),
        feedback=np.full(m, 0.5),
    )
    store._cell.version = version  # noqa: SLF001 - as a write does
    return store


def _seen(confidence: Floats) -> Visibility:
    """The validity columns of rows that always held and were always known."""
    size = len(confidence)
    always = Span(np.full(size, -np.inf), np.full(size, np.inf))
    alike = np.full(size, 2)  # numbered like the signatures of the store
    return Visibility(always, always, None, confidence, np.zeros(size, np.int32), {}, alike)
