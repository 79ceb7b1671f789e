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
from graphsearch.model import validation as check


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


async def recall_related(
    entity: EntityRef, access: Access, *, max_hops: int = 2, limit: int = 20
) -> tuple[Related, ...]:
    """See `graphsearch.curation.Curator.recall_related`."""
    check.refuse("recall", check.number("max_hops", max_hops, 0), check.number("limit", limit, 0))
    async with access.reading() as reader:
        graph = await _walk(entity, max_hops, access, reader)
        strength = _strengths(graph)
        rows = [row for row in _nearest(graph, strength) if graph.hops[row]][:limit]
        ids = reader.entity_ids(graph.entities[rows])
        entities = {each.id: each for each in await reader.get_entities(ids)}
        return tuple(
            [
                Related(
                    entity=entities[id_],
                    hops=int(graph.hops[row]),
                    strength=float(strength[row]),
                    path=tuple(await reader.relations(graph.relations[graph.path_to(row)])),
                )
                for id_, row in zip(ids, rows, strict=True)
            ]
        )


async def entity_graph(entity: EntityRef, access: Access, *, depth: int = 1, limit: int = 100) -> EntityGraph:
    """See `graphsearch.curation.Curator.entity_graph`."""
    check.refuse("entity graph", check.number("depth", depth, 0), check.number("limit", limit, 1))
    async with access.reading() as reader:
        graph = await _walk(entity, depth, access, reader)
        rows = sorted(_nearest(graph, _strengths(graph))[:limit])
        ids = reader.entity_ids(graph.entities[rows])
        entities = {each.id: each for each in await reader.get_entities(ids)}
        relations = await reader.relations(graph.relations[_rows_between(graph, rows)])
    nodes = [_node(entities[id_], int(graph.hops[row])) for id_, row in zip(ids, rows, strict=True)]
    links = [_link(relation) for relation in sorted(relations, key=_sort_key)]
    return EntityGraph(directed=True, multigraph=True, graph={}, nodes=nodes, links=links)


async def _walk(entity: EntityRef, depth: int, access: Access, reader: Reader) -> Subgraph:
    start = await known(entity, reader)
    return await access.engine.traversal.traverse(await reader.locate([start.id]), depth=depth, reader=reader)


def _strengths(graph: Subgraph) -> Floats:
    """Least confidence × least freshness × least prior along the path to each entity."""
    along = graph.along_paths(np.stack((graph.confidence, graph.freshness, graph.prior)), np.minimum)
    product: Floats = along[0] * along[1] * along[2]
    return product


def _nearest(graph: Subgraph, strength: Floats) -> list[int]:
    """Rows of the entities by hops, then by strength, then by key."""
    order: list[int] = np.lexsort((graph.entities, -strength, graph.hops)).tolist()
    return order


def _rows_between(graph: Subgraph, rows: Sequence[int]) -> Any:
    """Rows of the relations whose ends are both in ``rows``."""
    return np.flatnonzero(np.isin(graph.source, rows) & np.isin(graph.target, rows))


def _sort_key(relation: Relation) -> tuple[UUID, str, UUID, datetime]:
    start = relation.valid_from or datetime.min.replace(tzinfo=UTC)
    return relation.source_id, relation.type, relation.target_id, start


def _node(entity: Entity, hops: int) -> dict[str, Any]:
    return {
        "id": str(entity.id),
        "name": entity.name,
        "type": entity.type,
        "description": entity.description,
        "aliases": list(entity.aliases),
        "labels": list(entity.labels),
        "importance_weight": entity.importance_weight,
        "hops": hops,
    }


def _link(relation: Relation) -> dict[str, Any]:
    return {
        "source": str(relation.source_id),
        "target": str(relation.target_id),
        "key": str(relation.id),
        "type": relation.type,
        "fact": relation.fact,
        "kind": relation.kind.value,
        "confidence": relation.confidence,
        "valid_from": relation.valid_from.isoformat() if relation.valid_from else None,
        "valid_to": relation.valid_to.isoformat() if relation.valid_to else None,
    }
