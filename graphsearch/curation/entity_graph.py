"""The graph around an entity as node-link JSON, which networkx, d3 and others read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import numpy as np

from graphsearch.access.references import EntityRef, known
from graphsearch.columns import Subgraph
from graphsearch.curation.entity_recall import nearest, strengths
from graphsearch.curation.permissions import Access
from graphsearch.display.markup import Displayed, Shown
from graphsearch.display.picture import shown_entity_graph
from graphsearch.model import Entity, Relation
from graphsearch.model import validation as check


class EntityGraph(dict[str, Any], Displayed):
    """Node-link JSON: a plain dictionary that notebooks render as a table of its relations."""

    __slots__ = ()

    def _shown(self) -> Shown:
        return shown_entity_graph(self)


async def entity_graph(entity: EntityRef, access: Access, *, depth: int = 1, limit: int = 100) -> EntityGraph:
    """See `graphsearch.curation.Curator.entity_graph`."""
    check.refuse("entity graph", check.number("depth", depth, 0), check.number("limit", limit, 1))
    async with access.reading() as reader:
        start = await known(entity, reader)
        seeds = await reader.locate([start.id])
        graph = await access.engine.traversal.traverse(seeds, depth=depth, reader=reader)
        rows = sorted(nearest(graph, strengths(graph))[:limit])
        ids = reader.entity_ids(graph.entities[rows])
        entities = {each.id: each for each in await reader.get_entities(ids)}
        relations = await reader.relations(graph.relations[_rows_between(graph, rows)])
    nodes = [_node(entities[id_], int(graph.hops[row])) for id_, row in zip(ids, rows, strict=True)]
    links = [_link(relation) for relation in sorted(relations, key=_sort_key)]
    return EntityGraph(directed=True, multigraph=True, graph={}, nodes=nodes, links=links)


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
