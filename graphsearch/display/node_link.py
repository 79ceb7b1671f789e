"""Node-link JSON: entities as nodes and relations as links, and such a graph as a table of text. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphsearch.display.printing import text_table
from graphsearch.model import Entity, Relation
from graphsearch.text.rendering import safe_text


def node_of(entity: Entity, **more: Any) -> dict[str, Any]:
    """An entity as a node of node-link JSON."""
    return {
        "id": str(entity.id),
        "name": entity.name,
        "type": entity.type,
        "description": entity.description,
        "aliases": list(entity.aliases),
        "labels": list(entity.labels),
        "importance_weight": entity.importance_weight,
        **more,
    }


def link_of(relation: Relation, **more: Any) -> dict[str, Any]:
    """A relation as a link of node-link JSON."""
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
        **more,
    }


def print_graph(graph: Mapping[str, Any]) -> str:
    """The relations as a table, and entities without one; ``graph`` is node-link JSON."""
    nodes, links = graph["nodes"], graph["links"]
    names = {node["id"]: safe_text(node["name"]) or "(unnamed)" for node in nodes}
    joined = {end for link in links for end in (link["source"], link["target"])}
    alone = [f"{names[node['id']]} ({safe_text(node['type'])})" for node in nodes if node["id"] not in joined]
    rows = [
        (names[each["source"]], each["type"], names[each["target"]], f"{each['confidence']:.2f}", _period(each))
        for each in links
    ]
    lines = [f"{len(nodes)} entities, {len(links)} relations"]
    lines += [text_table(("source", "relation", "target", "confidence", "period"), rows)] if rows else []
    lines += [f"without a relation: {', '.join(alone)}"] if alone else []
    return "\n".join(lines)


def _period(link: Mapping[str, Any]) -> str:
    """``2023-05-07 – `` for a relation that holds since a day; empty if neither end is known."""
    start, end = ((link[side] or "")[:10] for side in ("valid_from", "valid_to"))
    return f"{start} – {end}" if start or end else ""
