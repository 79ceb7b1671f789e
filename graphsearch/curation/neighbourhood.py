"""The entities around an entity: listed by distance, and as a graph in node-link JSON, which networkx and d3 read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import attrs
import numpy as np

from graphsearch.access.reader import EntityRef, Reader, known
from graphsearch.columns import Floats, Subgraph
from graphsearch.curation.permissions import Access
from graphsearch.display.pages import Displayed, Shown
from graphsearch.display.picture import shown_entity_graph
from graphsearch.model import Entity, Relation


@attrs.frozen(kw_only=True)
class Related:
    """An entity that is reachable from another.

    ``path`` are the relations of the path to it, in order, ``hops`` their number; ``strength`` is least confidence ×
    least freshness × least prior along the path, in [0, 1].
    """

    entity: Entity
    hops: int
    strength: float
    path: tuple[Relation, ...]


class EntityGraph(dict[str, Any], Displayed):
    """Node-link JSON: a plain dictionary that notebooks render as a table of its relations."""

    __slots__ = ()

    def _shown(self) -> Shown:
        return shown_entity_graph(self)


async def walk(entity: EntityRef, depth: int, access: Access, reader: Reader) -> Subgraph:
    """Walk from an entity, by the engine's traversal."""
    start = await known(entity, reader)
    return await access.engine.traversal.traverse(await reader.locate([start.id]), depth=depth, reader=reader)


def strengths(graph: Subgraph) -> Floats:
    """Least confidence × least freshness × least prior along the path to each entity."""
    along = graph.along_paths(np.stack((graph.confidence, graph.freshness, graph.prior)), np.minimum)
    product: Floats = along[0] * along[1] * along[2]
    return product


def nearest(graph: Subgraph, strength: Floats) -> list[int]:
    """Rows of the entities by hops, then by strength, then by key."""
    order: list[int] = np.lexsort((graph.entities, -strength, graph.hops)).tolist()
    return order


def rows_between(graph: Subgraph, rows: Sequence[int]) -> Any:
    """Rows of the relations whose ends are both in ``rows``."""
    return np.flatnonzero(np.isin(graph.source, rows) & np.isin(graph.target, rows))


def sort_key(relation: Relation) -> tuple[UUID, str, UUID, datetime]:
    """Order relations by their ends, type and beginning."""
    start = relation.valid_from or datetime.min.replace(tzinfo=UTC)
    return relation.source_id, relation.type, relation.target_id, start
