"""Node-link JSON: entities as nodes and relations as links, and such a graph as a page and as text. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graphsearch.display.pages import Shown, bar, element, page, quiet, table
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


def shown_entity_graph(graph: Mapping[str, Any]) -> Shown:
    """The relations as a table, and entities without one; ``graph`` is node-link JSON."""
    nodes, links = graph["nodes"], graph["links"]
    names = {node["id"]: safe_text(node["name"]) or "(unnamed)" for node in nodes}
    joined = {end for link in links for end in (link["source"], link["target"])}
    alone = [f"{names[node['id']]} ({safe_text(node['type'])})" for node in nodes if node["id"] not in joined]
    content = [quiet(f"{_count(nodes, 'entity', 'entities')}, {_count(links, 'relation', 'relations')}")]
    rows, lines = [], []
    for link in links:
        source, type_, target = names[link["source"]], safe_text(link["type"]), names[link["target"]]
        rows.append((source, element("code", type_), target, bar(link["confidence"]), _period(link), link["fact"]))
        lines.append(f"- {source} --{type_}--> {target}")
    if links:
        content.append(table(["source", "relation", "target", "confidence", "period", "fact"], rows))
    if alone:
        content.append(quiet(f"without a relation: {', '.join(alone)}"))
    return Shown(page(*content), "\n".join([*lines, *(f"- {name}" for name in alone)]))


def _count(elements: list[Any], one: str, many: str) -> str:
    return f"{len(elements)} {one if len(elements) == 1 else many}"


def _period(link: Mapping[str, Any]) -> str:
    """``2023-05-07 – `` for a relation that holds since a day; empty if neither end is known."""
    start, end = ((link[side] or "")[:10] for side in ("valid_from", "valid_to"))
    return f"{start} – {end}" if start or end else ""
